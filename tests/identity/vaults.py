"""Vaults for tests: in a file or in OpenBao, with a master key that costs nothing."""

import secrets
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from contracts.identity import SecretKind, SecretName
from identity.bao import Bao, BaoAccess
from identity.document import Argon, Lock
from identity.head import HeadFile
from identity.sealing import KEY_BYTES
from identity.stores.openbao import OpenBaoStore
from identity.stores.sqlite import SqliteStore
from identity.stores.store import Store
from identity.unlocking import LocalKey
from identity.vault import SealedVault, new_vault_id
from tests.identity.bao_server import Server

CHEAP = Argon(salt="0" * 32, iterations=1, memory_kib=64, lanes=1)
"""A passphrase of a test is guessed in no time, and so is the test over."""


class Fixed:
    """The master key that the test knows; locked on demand."""

    def __init__(self, key: bytes) -> None:
        self.key = key
        self.open = True

    async def master_key(self, vault_id: str, lock: Lock) -> LocalKey:
        return LocalKey(bytearray(self.key))

    def still_open(self, vault_id: str, lock: Lock) -> bool:
        return self.open


@dataclass
class Place:
    """Where a test's vault lies; every `open` is another process, as far as the vault knows."""

    folder: Path
    store: Callable[[], Awaitable[Store]]
    source: Fixed

    @property
    def head(self) -> Path:
        return self.folder / "head" / "head.json"

    def head_bytes(self) -> bytes:
        return self.head.read_bytes()

    def put_head(self, content: bytes) -> None:
        self.head.write_bytes(content)

    @asynccontextmanager
    async def open(self) -> AsyncIterator[SealedVault]:
        vault = SealedVault(await self.store(), HeadFile(self.head), self.source)
        try:
            yield vault
        finally:
            await vault.close()

    @asynccontextmanager
    async def made(self) -> AsyncIterator[SealedVault]:
        async with self.open() as vault:
            await vault.make(new_vault_id(), Lock(kind="file"), LocalKey(bytearray(self.source.key)))
            yield vault


def in_file(folder: Path) -> Place:
    return Place(folder, lambda: SqliteStore.open(folder / "vault.db"), Fixed(secrets.token_bytes(KEY_BYTES)))


def in_bao(folder: Path, server: Server) -> Place:
    path = f"tasks/{secrets.token_hex(4)}"

    async def store() -> OpenBaoStore:
        access = BaoAccess(server.address, role_id=server.role_id, secret_id=server.secret_id)
        return OpenBaoStore(await Bao.open(access), "secret", path)

    return Place(folder, store, Fixed(secrets.token_bytes(KEY_BYTES)))


def named(kind: SecretKind, name: str = "main", profile_id: str = "github") -> SecretName:
    return SecretName(profile_id=profile_id, kind=kind, name=name)


async def plain(vault: SealedVault, name: SecretName, version: int | None = None) -> bytes:
    async with vault.opened(name, version) as secret:
        return bytes(secret)


def copied(source: Path, target: Path) -> None:
    """A SQLite file with what is beside it."""
    for path in source.parent.glob(f"{source.name}*"):
        shutil.copy2(path, target.with_name(path.name.replace(source.name, target.name)))


def removed(path: Path) -> None:
    """It, and what is beside it."""
    for each in path.parent.glob(f"{path.name}*"):
        each.unlink()
