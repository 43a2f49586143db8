"""A backup: the whole vault in one file, sealed with a passphrase of its own, independent of store and master key."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from pydantic import Field, ValidationError

from contracts.identity import NAME_PATTERN, PROFILE_ID, NoSuchSecret, SecretKind, SecretName, VaultUnusable
from contracts.values import Value
from identity.document import Argon
from identity.draft import Draft
from identity.files import replace_file
from identity.sealing import SealBroken, seal, unseal, wipe
from identity.unlocking import LocalKey, from_passphrase, new_argon
from identity.vault import SealedVault

MAGIC = b"asos vault backup 1\n"


class BackupUnusable(Exception):
    """Raised when a backup does not open, is damaged or cannot be read; the text says which. Nothing was changed."""


class BackupOlder(Exception):
    """Raised when the vault is newer than the backup, or another one; nothing was changed."""


class BackupHeader(Value):
    """What may be read of a backup without its passphrase."""

    vault_id: str
    generation: int
    made_at: datetime
    cipher: Literal["AES-256-GCM"] = "AES-256-GCM"
    argon: Argon


class Saved(Value):
    """One secret."""

    profile_id: str = Field(pattern=PROFILE_ID)
    kind: SecretKind
    name: str = Field(pattern=NAME_PATTERN)
    version: int = Field(ge=1)
    start: int = Field(ge=0)
    length: int = Field(ge=0)


class Contents(Value):
    """What lies where in the sealed part; the secrets follow it as they are."""

    secrets: tuple[Saved, ...]


@dataclass(frozen=True)
class Restored:
    """What came back, and how much of it was there already as it is in the backup."""

    secrets: int
    unchanged: int


async def export(vault: SealedVault, path: Path, passphrase: bytearray, costs: Argon | None = None) -> int:
    """Write the backup, or leave the old file as it was; give how many secrets it holds.

    Raises: VaultLocked, VaultDamaged, VaultUnusable.
    """
    header = (await vault.current()).header
    argon = new_argon(costs)
    about = BackupHeader(vault_id=header.vault_id, generation=header.generation, made_at=datetime.now(UTC), argon=argon)
    line = MAGIC + about.model_dump_json().encode() + b"\n"
    plain, count = await _collected(vault)
    try:
        async with _key(passphrase, argon) as key:
            content = line + seal(AESGCM(key.key), plain, line)
    finally:
        wipe(plain)
    try:
        replace_file(path, content)
    except OSError as error:
        raise VaultUnusable(f"cannot write {path}: {error.strerror}; what was there before is as it was") from error
    return count


def described(path: Path) -> BackupHeader:
    """What it says of itself, which is not checked yet. Raises: BackupUnusable."""
    return _read(path)[1]


async def restore(vault: SealedVault, path: Path, passphrase: bytearray, *, older: bool = False) -> Restored:
    """Put back all that the backup holds, in one step; what it does not hold stays.

    Raises: BackupUnusable, BackupOlder unless `older`, VaultLocked, VaultDamaged, VaultUnusable.
    """
    line, about, box = _read(path)
    opened = await vault.current()
    if opened.living() and not older:
        _refuse_older(about, opened.header.vault_id, opened.header.generation)
    async with _key(passphrase, about.argon) as key:
        try:
            plain = unseal(AESGCM(key.key), box, line)
        except SealBroken:
            raise BackupUnusable(f"{path} does not open: the passphrase is wrong, or the file was altered") from None
    try:
        secrets = _secrets_in(plain, path)
        same = await _same(vault, secrets)
        changed = {name: saved for name, saved in secrets.items() if name not in same}
        if changed:
            await vault.change(lambda draft: _put_all(draft, changed))
        return Restored(len(secrets), len(same))
    finally:
        wipe(plain)


def _refuse_older(about: BackupHeader, vault_id: str, generation: int) -> None:
    if about.vault_id != vault_id:
        raise BackupOlder(
            f"the backup of {about.made_at:%Y-%m-%d %H:%M} is of another vault than this one, which holds secrets; "
            "--older puts its secrets over those of the same name"
        )
    if about.generation < generation:
        raise BackupOlder(
            f"the backup of {about.made_at:%Y-%m-%d %H:%M} is older than the vault: generation {about.generation} "
            f"of {generation}; --older puts its secrets over newer ones"
        )


@asynccontextmanager
async def _key(passphrase: bytearray, argon: Argon) -> AsyncIterator[LocalKey]:
    key = await from_passphrase(passphrase, argon)
    try:
        yield key
    finally:
        key.forget()


async def _collected(vault: SealedVault) -> tuple[bytearray, int]:
    """Contents, their length before them, and the secrets one after the other."""
    body, saved = bytearray(), []
    try:
        for entry in (await vault.current()).living():
            try:
                async with vault.opened(entry.key) as plain:
                    saved.append(Saved(**entry.ref.model_dump(), start=len(body), length=len(plain)))
                    body += plain
            except NoSuchSecret:
                continue  # removed meanwhile
        contents = Contents(secrets=tuple(saved)).model_dump_json().encode()
        return bytearray(len(contents).to_bytes(8, "big") + contents) + body, len(saved)
    finally:
        wipe(body)


def _read(path: Path) -> tuple[bytes, BackupHeader, bytes]:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise BackupUnusable(f"cannot read {path}: {error.strerror}") from error
    line, _, box = content.removeprefix(MAGIC).partition(b"\n")
    if not content.startswith(MAGIC) or not box:
        raise BackupUnusable(f"{path} is no backup of a vault, or is cut off")
    try:
        about = BackupHeader.model_validate_json(line)
    except ValidationError:
        raise BackupUnusable(f"{path} is damaged: its header cannot be read") from None
    return MAGIC + line + b"\n", about, box


def _secrets_in(plain: bytearray, path: Path) -> dict[SecretName, tuple[int, memoryview]]:
    """Version and secret by name; the views are of `plain`, and are wiped with it."""
    size = int.from_bytes(plain[:8], "big")
    body = memoryview(plain)[8 + size :]
    try:
        contents = Contents.model_validate_json(plain[8 : 8 + size])
    except ValidationError:
        raise BackupUnusable(f"{path} was made by a newer version of this program") from None
    return {
        SecretName(profile_id=one.profile_id, kind=one.kind, name=one.name): (
            one.version,
            body[one.start : one.start + one.length],
        )
        for one in contents.secrets
    }


async def _same(vault: SealedVault, secrets: dict[SecretName, tuple[int, memoryview]]) -> set[SecretName]:
    same = set()
    for name, (_, secret) in secrets.items():
        try:
            async with vault.opened(name) as plain:
                if plain == secret:
                    same.add(name)
        except NoSuchSecret:
            continue
    return same


def _put_all(draft: Draft, secrets: dict[SecretName, tuple[int, memoryview]]) -> None:
    for name, (version, secret) in secrets.items():
        copy = bytearray(secret)
        draft.put(name, copy, at_least=version)
        wipe(copy)
