"""The vault: secrets sealed in a store, opened for the length of a block, and never older than they should be."""

import asyncio
import random
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

from contracts.identity import (
    NoSuchSecret,
    SecretName,
    SecretRef,
    VaultDamaged,
    VaultLocked,
    VaultUnusable,
    VersionConflict,
)
from identity.document import Header, Index, Lock, WrappedKey, digest_of, header_of, sealed_document, text_of
from identity.draft import Draft
from identity.head import Head, HeadFile, OlderCopy
from identity.opening import Opened, key_about, opened_document, unsealed
from identity.sealing import DataKey, wipe
from identity.stores.store import Document, Overtaken, Store
from identity.unlocking import KeySource, MasterKey, WrongKey

TRIES = 200
"""How often a change is made anew because another process was faster."""
PAUSE_SECONDS = 0.02
VAULT_ID_BYTES = 8

Result = TypeVar("Result")


class SealedVault:
    """Implements `contracts.identity.Vault`. One object serves a process; several processes may share a store."""

    def __init__(self, store: Store, head: HeadFile, source: KeySource) -> None:
        self._store = store
        self._head = head
        self._source = source
        self._master: MasterKey | None = None
        self._lock_id = ""
        """For which lock the master key is."""
        self._opened: Opened | None = None
        self._newest: tuple[str, int, str] | None = None
        """Vault, generation and digest that this process has seen; it takes nothing older."""
        self._lock = asyncio.Lock()

    @property
    def locked(self) -> bool:
        """Whether the last use found it so; a use looks again by itself."""
        return self._opened is None or not self._is_still_open(self._opened)

    @property
    def place(self) -> str:
        return self._store.place

    async def make(self, vault_id: str, lock: Lock, master: MasterKey) -> None:
        """A new, empty vault. Raises: VersionConflict if there is one already, VaultUnusable."""
        key = DataKey.new()
        wrapped = WrappedKey(
            key_id=key.key_id, wrapped=text_of(await master.wrap(key.key, key_about(vault_id, key.key_id)))
        )
        header = Header(vault_id=vault_id, generation=1, lock=lock, keys=(wrapped,))
        content = sealed_document(header, Index(), key)
        try:
            stamp = await self._store.commit(content, 0, {}, ())
        except Overtaken:
            raise VersionConflict(f"{self._store.place} holds a vault already") from None
        await self._head.trust(_head_of(header, content), key)
        self._take(master, Opened(header, {}, {key.key_id: key}, Document(content, stamp)))

    async def header(self) -> Header | None:
        """What may be known while it is locked; None if there is no vault. Raises: VaultDamaged, VaultUnusable."""
        document = await self._store.document()
        return header_of(document.content) if document else None

    async def unlock(self, master: MasterKey | None = None, *, trust: bool = False) -> Header:
        """Open it with this key, or with what the source gives; with `trust`, whatever the head says.

        Raises: VaultLocked, WrongKey, VaultDamaged, VaultUnusable.
        """
        async with self._lock:
            self._forget()
            document = await self._document()
            header = header_of(document.content)
            master = master or await self._source.master_key(header.vault_id, header.lock)
            try:
                opened = await opened_document(document, master, {})
                await self._accept(opened, trust=trust)
            except BaseException:
                master.forget()
                raise
            self._take(master, opened)
            return header

    def forget(self) -> None:
        """Wipe the keys of this process."""
        self._forget()

    async def close(self) -> None:
        self._forget()
        await self._store.close()

    async def put(self, name: SecretName, secret: bytearray, *, after: int | None = None) -> SecretRef:
        """Implements the protocol."""
        try:
            return await self.change(lambda draft: draft.put(name, secret, after=after))
        finally:
            wipe(secret)

    @asynccontextmanager
    async def opened(self, name: SecretName, version: int | None = None) -> AsyncIterator[bytearray]:
        """Implements the protocol; the bytearray is wiped after the block."""
        plain = await self._plain(name, version)
        try:
            yield plain
        finally:
            wipe(plain)

    async def version(self, name: SecretName) -> int:
        entry = (await self.current()).entry(name)
        return entry.version if entry is not None and entry.box_id else 0

    async def remove(self, name: SecretName) -> bool:
        return await self.change(lambda draft: draft.remove(name))

    async def names(self, profile_id: str) -> AsyncIterator[SecretName]:
        for entry in (await self.current()).living():
            if entry.profile_id == profile_id:
                yield entry.key

    async def profile_ids(self) -> list[str]:
        """Of all that has a secret. Raises: VaultLocked, VaultDamaged, VaultUnusable."""
        return sorted({entry.profile_id for entry in (await self.current()).living()})

    async def forget_profile(self, profile_id: str) -> int:
        """Remove all secrets of a profile at once; give how many. Raises: VaultLocked, VaultDamaged, VaultUnusable."""
        return await self.change(lambda draft: draft.remove_profile(profile_id))

    async def current(self) -> Opened:
        """The newest state of the store. Raises: VaultLocked, VaultDamaged, VaultUnusable."""
        async with self._lock:
            return await self._current()

    async def change(self, step: Callable[[Draft], Result]) -> Result:
        """Let `step` change a draft, and store all of it at once; `step` runs anew if another process was faster.

        Raises: VaultLocked, VaultDamaged, VaultUnusable, and what `step` raises.
        """
        async with self._lock:
            for _ in range(TRIES):
                opened = await self._current()
                draft = Draft(opened)
                result = step(draft)
                if not draft.changed:
                    return result
                try:
                    await self._commit(opened, draft)
                except Overtaken:
                    # Longer than a commit takes, and different for each, so that all come through.
                    await asyncio.sleep(PAUSE_SECONDS * random.random())  # noqa: S311  spreads retries, decides nothing
                else:
                    return result
        raise VaultUnusable(f"others write {self._store.place} without a pause; try again")

    async def rewrapped(self, master: MasterKey, lock: Lock) -> None:
        """From now on another master key opens the vault. Raises: VaultLocked, VaultDamaged, VaultUnusable."""
        for _ in range(TRIES):
            if await self._relocked(master, lock):
                return
        raise VaultUnusable(f"the keys of {self._store.place} change without a pause; try again")

    async def erase_traces(self) -> None:
        """Remove what no entry names, and what the medium may still hold of it."""
        opened = await self.current()
        stray = await self._store.box_ids() - {entry.box_id for entry in opened.living()}
        if stray:
            await self.change(lambda draft: draft.sweep(stray))
        await self._store.erase_traces()

    async def wrapped_key(self, key: DataKey) -> tuple[WrappedKey, Lock]:
        """For a rotation, and the lock that it is wrapped for. Raises: VaultLocked, VaultDamaged, VaultUnusable."""
        async with self._lock:
            header = (await self._current()).header
            if self._master is None:
                raise VaultLocked("the vault was locked meanwhile")
            wrapped = await self._master.wrap(key.key, key_about(header.vault_id, key.key_id))
            return WrappedKey(key_id=key.key_id, wrapped=text_of(wrapped)), header.lock

    async def _relocked(self, master: MasterKey, lock: Lock) -> bool:
        opened = await self.current()
        vault_id = opened.header.vault_id
        wrapped = {
            key_id: text_of(await master.wrap(key.key, key_about(vault_id, key_id)))
            for key_id, key in opened.keys.items()
        }
        if not await self.change(lambda draft: draft.relock(lock, wrapped)):
            return False
        if self._master is not None and self._master is not master:
            self._master.forget()
        self._master, self._lock_id = master, lock.lock_id
        return True

    async def _plain(self, name: SecretName, version: int | None) -> bytearray:
        for _ in range(TRIES):
            opened = await self.current()
            entry = opened.entry(name)
            if entry is None or not entry.box_id:
                raise NoSuchSecret(f"the vault holds no {name.kind} {name.name!r} of {name.profile_id!r}")
            if version is not None and version != entry.version:
                raise NoSuchSecret(
                    f"{name.kind} {name.name!r} of {name.profile_id!r}: version {version} was asked for, and the "
                    f"vault holds version {entry.version}"
                )
            box = await self._store.box(entry.box_id)
            if box is not None or await self._store.stamp() == opened.document.stamp:
                return unsealed(opened, entry, box)
        raise VaultUnusable(f"others write {self._store.place} without a pause; try again")

    async def _current(self) -> Opened:
        if self._opened is not None and not self._is_still_open(self._opened):
            self._forget()
        for _ in range(TRIES):
            stamp, opened = await self._store.stamp(), self._opened
            if opened is not None and stamp == opened.document.stamp:
                return opened
            try:
                return await self._read_anew(opened)
            except OlderCopy:
                # No older copy if another process has stored a newer one between our look at it and at the head.
                if await self._store.stamp() == stamp:
                    raise
        raise VaultUnusable(f"others write {self._store.place} without a pause; try again")

    async def _read_anew(self, opened: Opened | None) -> Opened:
        document = await self._document()
        header = header_of(document.content)
        if self._master is None or self._lock_id != header.lock.lock_id:
            # Nothing that is known already is taken over, so that the new master key has to prove itself.
            self._forget()
            opened = None
            self._master = await self._source.master_key(header.vault_id, header.lock)
        try:
            found = await opened_document(document, self._master, opened.keys if opened else {})
            await self._accept(found, trust=False)
        except WrongKey as error:
            self._forget()
            raise VaultLocked(f"the key at hand does not open the vault: {error}") from None
        self._take(self._master, found)
        return found

    async def _document(self) -> Document:
        document = await self._store.document()
        if document is not None:
            return document
        if self._newest is not None or self._head.path.exists():
            raise VaultDamaged(f"{self._store.place} is empty, and held a vault before; import your newest backup")
        raise VaultLocked("there is no vault yet: run `asos identity unlock` to make one")

    async def _accept(self, found: Opened, *, trust: bool) -> None:
        """Raises: VaultDamaged."""
        header, head = found.header, _head_of(found.header, found.document.content)
        if trust:
            await self._head.trust(head, found.keys[header.active])
            self._newest = None
        if self._newest is not None and (header.vault_id, header.generation) != self._newest[:2]:
            vault_id, generation, _ = self._newest
            if vault_id != header.vault_id or header.generation < generation:
                raise VaultDamaged(
                    f"{self._store.place} is another vault or an older copy: it holds generation {header.generation}, "
                    f"and {generation} was there before"
                )
        await self._head.check(head, found.keys)
        self._newest = (header.vault_id, header.generation, head.digest)

    async def _commit(self, opened: Opened, draft: Draft) -> None:
        header, keys = draft.header, draft.keys
        content = sealed_document(header, draft.index, keys[header.active])
        stamp = await self._store.commit(content, opened.document.stamp, draft.boxes, draft.gone)
        self._opened = Opened(header, draft.entries, keys, Document(content, stamp))
        head = _head_of(header, content)
        self._newest = (header.vault_id, header.generation, head.digest)
        await self._head.advance(head, keys)

    def _take(self, master: MasterKey, opened: Opened) -> None:
        self._master, self._lock_id, self._opened = master, opened.header.lock.lock_id, opened
        self._newest = (opened.header.vault_id, opened.header.generation, digest_of(opened.document.content))

    def _is_still_open(self, opened: Opened) -> bool:
        return self._source.still_open(opened.header.vault_id, opened.header.lock)

    def _forget(self) -> None:
        if self._opened is not None:
            for key in self._opened.keys.values():
                key.forget()
        if self._master is not None:
            self._master.forget()
        self._opened = self._master = None


def new_vault_id() -> str:
    return secrets.token_hex(VAULT_ID_BYTES)


def _head_of(header: Header, content: bytes) -> Head:
    return Head(vault_id=header.vault_id, generation=header.generation, digest=digest_of(content), key_id=header.active)
