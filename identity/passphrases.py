"""Open the vault by a passphrase, until somebody locks it; and make its key dearer to guess when times change."""

from contracts.identity import VaultLocked
from identity.document import Argon, Lock
from identity.session import Session
from identity.unlocking import from_passphrase, new_argon
from identity.vault import SealedVault, new_vault_id

LEAST_CHARACTERS = 10


class PassphraseTooShort(Exception):
    """Raised for a passphrase that is guessed too soon."""


async def make_vault(vault: SealedVault, session: Session, passphrase: bytearray, costs: Argon | None = None) -> str:
    """A new vault, unlocked. Raises: PassphraseTooShort, VersionConflict, VaultLocked, VaultUnusable."""
    _check(passphrase)
    argon, vault_id = new_argon(costs), new_vault_id()
    master = await from_passphrase(passphrase, argon)
    await session.hold(vault_id, master)
    try:
        await vault.make(vault_id, Lock(kind="passphrase", argon=argon), master)
    except BaseException:
        await session.drop()
        raise
    return vault_id


async def unlock_vault(
    vault: SealedVault, session: Session, passphrase: bytearray, costs: Argon | None = None, *, trust: bool = False
) -> bool:
    """Open it; True if its costs were below those of today, and were raised.

    Raises: VaultLocked, WrongKey, VaultDamaged, VaultUnusable.
    """
    header = await vault.header()
    if header is None or header.lock.argon is None:
        raise VaultLocked(f"{vault.place} holds no vault that a passphrase opens")
    master = await from_passphrase(passphrase, header.lock.argon)
    await vault.unlock(master, trust=trust)
    await session.hold(header.vault_id, master)
    today = new_argon(costs)
    if not header.lock.argon.weaker_than(today):
        return False
    await _relock(vault, session, passphrase, today)
    return True


async def change_passphrase(
    vault: SealedVault, session: Session, passphrase: bytearray, costs: Argon | None = None
) -> None:
    """From now on this one opens it. Raises: PassphraseTooShort, VaultLocked, VaultDamaged, VaultUnusable."""
    _check(passphrase)
    await _relock(vault, session, passphrase, new_argon(costs))


async def _relock(vault: SealedVault, session: Session, passphrase: bytearray, argon: Argon) -> None:
    master = await from_passphrase(passphrase, argon)
    vault_id = (await vault.current()).header.vault_id
    await vault.rewrapped(master, Lock(kind="passphrase", argon=argon))
    await session.hold(vault_id, master)


def _check(passphrase: bytearray) -> None:
    if len(passphrase.decode("utf-8", "replace")) < LEAST_CHARACTERS:
        raise PassphraseTooShort(f"a passphrase needs {LEAST_CHARACTERS} characters or more")
