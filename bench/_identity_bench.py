"""How fast the vault seals and opens, and what of it is the cipher alone."""

import asyncio
import secrets
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path

from cryptography.hazmat.primitives.ciphers.aead import AESGCM, ChaCha20Poly1305

from bench._report import arguments, report, spread
from contracts.identity import SecretName, SecretRef
from identity.document import Lock
from identity.head import HeadFile
from identity.sealing import NONCE_BYTES, DataKey, about, seal, unseal
from identity.stores.sqlite import SqliteStore
from identity.unlocking import FileKey, LocalKey, from_passphrase, new_argon
from identity.vault import SealedVault, new_vault_id

SECRET_BYTES = 1_024
FEW, MANY = 10, 1_000
"""Secrets in the vault: the index is read and written whole."""
ROUNDS, QUICK_ROUNDS = 400, 60
ARGON_ROUNDS = 5

Step = Callable[[], Awaitable[object]]


def bare(cipher: AESGCM | ChaCha20Poly1305) -> tuple[Step, Step]:
    """The floor: one encryption, one decryption, of the same size and with associated data."""
    plain, bound_to, nonce = secrets.token_bytes(SECRET_BYTES), bytes(64), bytes(NONCE_BYTES)
    sealed = cipher.encrypt(nonce, plain, bound_to)

    async def seals() -> object:
        return cipher.encrypt(secrets.token_bytes(NONCE_BYTES), plain, bound_to)

    async def opens() -> object:
        return cipher.decrypt(nonce, sealed, bound_to)

    return seals, opens


def boxes() -> tuple[Step, Step]:
    """Our sealing, without a store."""
    key, plain = DataKey.new(), bytearray(secrets.token_bytes(SECRET_BYTES))
    ref = SecretRef(profile_id="bench", kind="token", name="main", version=1)
    sealed = seal(key.cipher("token"), plain, about("vault", key.key_id, ref))

    async def seals() -> object:
        return seal(key.cipher("token"), plain, about("vault", key.key_id, ref))

    async def opens() -> object:
        return unseal(key.cipher("token"), sealed, about("vault", key.key_id, ref))

    return seals, opens


async def vault_of(folder: Path, count: int) -> SealedVault:
    """In a file, with so many secrets."""
    await asyncio.to_thread(folder.mkdir)
    file = FileKey(folder / "key")
    vault = SealedVault(await SqliteStore.open(folder / "vault.db"), HeadFile(folder / "head" / "head.json"), file)
    await vault.make(new_vault_id(), Lock(kind="file"), await file.make())
    names = [SecretName(profile_id="bench", kind="token", name=f"n{number}") for number in range(count)]
    await vault.change(lambda draft: [draft.put(name, bytearray(SECRET_BYTES)) for name in names])
    return vault


def stored(vault: SealedVault) -> tuple[Step, Step]:
    """A whole put, on disk and with its head; a whole open, checked against the index."""
    name = SecretName(profile_id="bench", kind="token", name="n0")

    async def puts() -> object:
        return await vault.put(name, bytearray(SECRET_BYTES))

    async def opens() -> object:
        async with vault.opened(name) as plain:
            return len(plain)

    return puts, opens


async def derives() -> LocalKey:
    return await from_passphrase(bytearray(b"of the bench"), new_argon())


async def measured(rounds: int) -> dict[str, list[float]]:
    """Microseconds of every row, one after the other in each round."""
    key = bytes(32)
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        rows: dict[str, Step] = {}
        for name, pair in (
            ("AES-256-GCM alone", bare(AESGCM(key))),
            ("ChaCha20-Poly1305 alone", bare(ChaCha20Poly1305(key))),
            ("box", boxes()),
        ):
            rows |= {f"{name}, seal": pair[0], f"{name}, open": pair[1]}
        for count in (FEW, MANY):
            vault = await vault_of(folder / str(count), count)
            stack.push_async_callback(vault.close)
            puts, opens = stored(vault)
            rows |= {f"vault of {count:,}, put": puts, f"vault of {count:,}, open": opens}
        samples: dict[str, list[float]] = {name: [] for name in rows}
        for _ in range(rounds):
            for name, step in rows.items():
                samples[name].append(await _timed(step))
        samples["Argon2id of a passphrase"] = [await _timed(derives) for _ in range(ARGON_ROUNDS)]
        return samples


async def _timed(step: Step) -> float:
    started = time.perf_counter()
    await step()
    return (time.perf_counter() - started) * 1e6


def main() -> None:
    given = arguments(__doc__)
    samples = asyncio.run(measured(QUICK_ROUNDS if given.quick else ROUNDS))
    figures = {name: spread(values) for name, values in samples.items()}
    p50 = {name: row["p50"] for name, row in figures.items()}
    few = f"vault of {FEW:,}"
    rates = {
        "puts a second": 1e6 / p50[f"{few}, put"],
        "opens a second": 1e6 / p50[f"{few}, open"],
        "boxes sealed a second": 1e6 / p50["box, seal"],
        "boxes opened a second": 1e6 / p50["box, open"],
        "box to the cipher alone, seal": p50["box, seal"] / p50["AES-256-GCM alone, seal"],
        "box to the cipher alone, open": p50["box, open"] / p50["AES-256-GCM alone, open"],
    }
    title = f"microseconds for one secret of {SECRET_BYTES:,} bytes; the vault in a SQLite file, each put on disk"
    report(title, figures, rates, given, "nothing")


if __name__ == "__main__":
    main()
