"""What opens the vault: passphrase, keyring, key file; and how long."""

import base64
import os
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.backends import fail

from contracts.identity import VaultLocked
from identity.document import Lock
from identity.head import HeadFile
from identity.passphrases import PassphraseTooShort, change_passphrase, make_vault, unlock_vault
from identity.session import Session
from identity.stores.sqlite import SqliteStore
from identity.unlocking import BySource, FileKey, KeySource, LocalKey, OsKeyring, WrongKey
from identity.vault import SealedVault, new_vault_id
from tests.identity.vaults import CHEAP, named, plain

RIGHT, WRONG = b"correct horse", b"battery staple"


@pytest.fixture
def session(tmp_path: Path) -> Session:
    """In a folder that says of itself to lie in memory."""
    mounts = tmp_path / "mounts"
    mounts.write_text(f"disk / ext4 rw 0 0\nnone {tmp_path} tmpfs rw 0 0\n")
    return Session(tmp_path, "ours", mounts)


@asynccontextmanager
async def opened(folder: Path, source: KeySource) -> AsyncIterator[SealedVault]:
    vault = SealedVault(await SqliteStore.open(folder / "vault.db"), HeadFile(folder / "head.json"), source)
    try:
        yield vault
    finally:
        await vault.close()


async def test_one_process_unlocks_and_locks_for_all(tmp_path: Path, session: Session) -> None:
    async with opened(tmp_path, session) as terminal, opened(tmp_path, session) as worker:
        await make_vault(terminal, session, bytearray(RIGHT), CHEAP)
        await worker.put(named("token"), bytearray(b"secret"))

        assert await session.drop()
        for vault in (terminal, worker):
            with pytest.raises(VaultLocked, match="asos identity unlock"):
                await plain(vault, named("token"))
        with pytest.raises(WrongKey):
            await unlock_vault(terminal, session, bytearray(WRONG), CHEAP)
        assert worker.locked

        await unlock_vault(terminal, session, bytearray(RIGHT), CHEAP)
        assert await plain(worker, named("token")) == b"secret"


async def test_unlocking_raises_costs_that_are_too_low_and_keeps_the_passphrase(
    tmp_path: Path, session: Session
) -> None:
    today = CHEAP.model_copy(update={"iterations": 2})
    async with opened(tmp_path, session) as vault:
        await make_vault(vault, session, bytearray(RIGHT), CHEAP)
        await vault.put(named("token"), bytearray(b"secret"))
        before = await vault.header()

        raised = [await unlock_vault(vault, session, bytearray(RIGHT), today) for _ in range(2)]

        after = await vault.header()
        assert before is not None
        assert after is not None
        assert raised == [True, False]
        assert after.lock.argon is not None
        assert after.lock.argon.iterations == 2
        assert before.lock.argon != after.lock.argon
        assert await plain(vault, named("token")) == b"secret"


async def test_a_changed_passphrase_is_the_only_one(tmp_path: Path, session: Session) -> None:
    async with opened(tmp_path, session) as vault, opened(tmp_path, session) as worker:
        await make_vault(vault, session, bytearray(WRONG), CHEAP)
        await vault.put(named("token"), bytearray(b"secret"))
        assert await plain(worker, named("token")) == b"secret"

        await change_passphrase(vault, session, bytearray(RIGHT), CHEAP)

        assert await plain(worker, named("token")) == b"secret"
        with pytest.raises(WrongKey):
            await unlock_vault(vault, session, bytearray(WRONG), CHEAP)


async def test_a_short_passphrase_makes_no_vault(tmp_path: Path, session: Session) -> None:
    async with opened(tmp_path, session) as vault:
        with pytest.raises(PassphraseTooShort):
            await make_vault(vault, session, bytearray(b"short"), CHEAP)

        assert await vault.header() is None


async def test_the_key_is_held_in_no_folder_of_a_disk(tmp_path: Path) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text(f"none / tmpfs rw 0 0\ndisk {tmp_path} ext4 rw 0 0\n")

    with pytest.raises(VaultLocked, match="ASOS_VAULT_SESSION_FOLDER"):
        await Session(tmp_path, "ours", mounts).hold(new_vault_id(), LocalKey.new())


async def test_a_held_key_that_others_may_read_is_not_used(tmp_path: Path, session: Session) -> None:
    vault_id = new_vault_id()
    await session.hold(vault_id, LocalKey.new())
    for folder in os.listdir(tmp_path):  # noqa: PTH208  pathlib is refused in coroutines
        if folder.startswith("asos-"):
            os.chmod(f"{tmp_path}/{folder}/{vault_id}", 0o644)  # noqa: PTH101  as above

    with pytest.raises(VaultLocked, match="open to others"):
        await session.master_key(vault_id, Lock(kind="passphrase"))


async def test_a_key_file_opens_the_vault_if_only_its_owner_may_read_it(tmp_path: Path) -> None:
    file = FileKey(tmp_path / "key")
    async with opened(tmp_path, file) as vault:
        await vault.make(new_vault_id(), Lock(kind="file"), await file.make())
        await vault.put(named("token"), bytearray(b"secret"))
    async with opened(tmp_path, file) as again:
        assert await plain(again, named("token")) == b"secret"

    (tmp_path / "key").chmod(0o640)
    async with opened(tmp_path, file) as closed:
        with pytest.raises(VaultLocked, match="chmod 600"):
            await plain(closed, named("token"))
    with pytest.raises(FileExistsError):
        await file.make()


@pytest.mark.parametrize("content", [b"", b"no base64!", base64.b64encode(b"short")])
async def test_a_key_file_without_a_whole_key_is_named(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "key").write_bytes(content)
    (tmp_path / "key").chmod(0o600)

    with pytest.raises(VaultLocked, match="holds no key of 32 bytes"):
        await FileKey(tmp_path / "key").master_key("", Lock(kind="file"))


class Desktop(KeyringBackend):
    """A keyring that lives as long as the test."""

    priority = 1

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # the library's constructors have no types
        self.kept: dict[tuple[str, str], str] = {}

    def set_password(self, service: str, username: str, password: str) -> None:
        self.kept[service, username] = password

    def get_password(self, service: str, username: str) -> str | None:
        return self.kept.get((service, username))


def nothing() -> KeyringBackend:
    return fail.Keyring()  # type: ignore[no-untyped-call]  # the library's constructors have no types


@pytest.fixture
def desktop() -> Iterator[Desktop]:
    backend = Desktop()
    keyring.set_keyring(backend)
    yield backend
    keyring.set_keyring(nothing())


async def test_the_os_keyring_opens_the_vault(tmp_path: Path, desktop: Desktop) -> None:
    source, vault_id = OsKeyring(), new_vault_id()

    async with opened(tmp_path, source) as vault:
        await vault.make(vault_id, Lock(kind="keyring"), await source.make(vault_id))
        await vault.put(named("token"), bytearray(b"secret"))
    async with opened(tmp_path, source) as again:
        assert await plain(again, named("token")) == b"secret"
    desktop.kept.clear()
    async with opened(tmp_path, source) as closed:
        with pytest.raises(VaultLocked, match="has no key of this vault"):
            await plain(closed, named("token"))


async def test_a_machine_without_a_keyring_is_told() -> None:
    keyring.set_keyring(nothing())

    with pytest.raises(VaultLocked, match="the OS keyring does not answer"):
        await OsKeyring().make("v")


async def test_without_the_library_of_the_os_keyring_it_is_said_what_is_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)

    with pytest.raises(VaultLocked, match=r"agent-sandbox-os\[keyring\]"):
        await OsKeyring().make("v")


async def test_a_lock_without_its_source_is_named() -> None:
    with pytest.raises(VaultLocked, match="opens by transit"):
        await BySource({}).master_key("v", Lock(kind="transit", key_name="asos"))
