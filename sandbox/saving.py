"""Saves the state of sandboxes and goes back to it: their files, and their processes where the engine can.

While the processes of a sandbox are being saved it does not run, and its checkpoint lies in a folder of the host. If
this process dies then, the folder says so, and the sandbox goes on from there when it is next needed.
"""

import asyncio
import logging
import shutil
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Protocol

from contracts.language import Language
from contracts.sandbox import (
    SandboxBusy,
    SandboxLost,
    SandboxUnavailable,
    Snapshot,
    SnapshotFailed,
    SnapshotKind,
    SnapshotUnusable,
)
from contracts.texts import hosting as texts
from sandbox.driver import Driver, Found, Spec, Unsupported
from sandbox.freezing import Freezer
from sandbox.limits import Limits
from sandbox.opened import Connections
from sandbox.quota import why_lost
from sandbox.records import Record
from sandbox.snapshots.folder_tree import FolderTree
from sandbox.snapshots.tree import Tree
from sandbox.together import both

PART = ".part"
END_SECONDS, SEEN_SECONDS = 30.0, 5.0
"""How long an engine may take to see that what was saved has ended."""
PROCESS_TREE = "process"
"""Name of the tree that holds a checkpoint, beside those of the driver."""

log = logging.getLogger(__name__)


class Snapshots(Protocol):
    """Where snapshots are kept."""

    async def take(
        self,
        *,
        owner: str,
        name: str,
        kind: SnapshotKind,
        trees: Mapping[str, Tree],
        parent: str | None,
        driver: str,
        runtime: str,
        image: str,
    ) -> Snapshot:
        """Raises: SnapshotFailed."""
        ...

    async def restore(self, digest: str, trees: Mapping[str, Tree]) -> Snapshot:
        """Fill these trees; every byte is verified before anything is used. Raises: SnapshotUnusable."""
        ...

    async def find(self, digest: str) -> Snapshot:
        """Raises: SnapshotUnusable."""
        ...

    async def close(self) -> None: ...


class Saving:
    """What a host does with snapshots; callers hold the sandbox's lock."""

    def __init__(
        self,
        driver: Driver,
        connections: Connections,
        freezer: Freezer,
        snapshots: Snapshots | None,
        spec_of: Callable[[Record], Spec],
        *,
        folder: Path,
        limits: Limits,
        language: Language,
    ) -> None:
        self._driver = driver
        self._limits = limits
        self._connections = connections
        self._freezer = freezer
        self._snapshots = snapshots
        self._spec_of = spec_of
        self._folder = folder
        self._language: Language = language
        self._under_way: dict[str, asyncio.Event] = {}

    async def files(self, record: Record, name: str) -> Snapshot:
        """Save its folders while it stands still. Raises: SandboxBusy, SandboxLost, SnapshotFailed."""
        running = (await self.there(record)).state == "running"
        if running:
            await self._freezer.pause(record.sandbox_id)
        try:
            return await self._taken(record, name, "files", {})
        finally:
            if running:
                await self._freezer.resume(record.sandbox_id)

    async def live_files(self, record: Record, name: str) -> Snapshot:
        """Save its folders while something runs in it: each file as it is when it is read, and not all of one moment.
        The only one that needs no lock. Raises: SandboxLost, SnapshotFailed."""
        await self.there(record)
        return await self._taken(record, name, "files", {})

    async def processes(self, record: Record, name: str, *, stay: bool) -> Snapshot:
        """Save its folders and its processes. Unless it is to `stay`, it has no processes here afterwards.

        Raises: Unsupported, SandboxBusy, SandboxLost, SnapshotFailed; but for Unsupported it goes on as it was.
        """
        sandbox_id = record.sandbox_id
        if self._freezer.is_busy(sandbox_id):
            raise SandboxBusy(f"something runs in {sandbox_id}")
        paused = (await self.there(record)).state == "paused"
        if paused:
            await self._freezer.resume(sandbox_id)
        try:
            async with self._nobody_enters(sandbox_id):
                return await self._processes(record, name, stay=stay)
        except BaseException:
            stay = True
            raise
        finally:
            if paused and stay:
                await self._freezer.pause(sandbox_id)

    async def find(self, digest: str) -> Snapshot:
        """Raises: SnapshotUnusable."""
        if self._snapshots is None:
            raise SnapshotUnusable(f"{digest}: {texts.NO_STORE.say(self._language)}")
        return await self._snapshots.find(digest)

    async def restored(self, spec: Spec, snapshot: Snapshot) -> tuple[Found, bool]:
        """A new sandbox in the state of a snapshot, and whether its processes go on.

        Raises: SnapshotUnusable, SandboxUnavailable.
        """
        if snapshot.kind == "process" and snapshot.driver == self._driver.name:
            try:
                return await self._restarted(spec, snapshot), True
            except (Unsupported, SandboxUnavailable) as error:
                log.warning("the processes of %s do not go on in %s: %s", snapshot.digest, spec.sandbox_id, error)
                await self._driver.destroy(spec.sandbox_id)
        found = await self._driver.create(spec)
        await self.refill(spec.sandbox_id, snapshot)
        return found, False

    async def refill(self, sandbox_id: str, snapshot: Snapshot) -> None:
        """Put the files of a snapshot in place of its own. Raises: SnapshotUnusable, SandboxUnavailable."""
        try:
            trees = await self._driver.trees(sandbox_id)
        except Unsupported as error:
            raise SnapshotUnusable(f"{snapshot.digest}: {error}") from error
        except SandboxLost as error:
            raise SandboxUnavailable(str(error)) from error
        await self._filled(snapshot, trees)

    async def there(self, record: Record) -> Found:
        """The sandbox, brought back if the saving of its processes was cut off. Raises: SandboxLost."""
        sandbox_id = record.sandbox_id
        try:
            found = await self._driver.find(sandbox_id)
            # Its processes end by what is written of them, which the engine may not have seen yet.
            if found and self._is_written(sandbox_id) and await self._driver.ended(sandbox_id, SEEN_SECONDS):
                found = await self._driver.find(sandbox_id)
        except SandboxUnavailable as error:
            raise SandboxLost(str(error)) from error
        if found is None or found.state == "dead":
            if not self.was_cut_off(sandbox_id):
                raise lost(sandbox_id, why_lost(found, self._limits, self._language))
            return await self.go_on(record)
        if self.was_cut_off(sandbox_id):
            await self.forget(sandbox_id)
        return found

    async def go_on(self, record: Record) -> Found:
        """Bring a sandbox back whose processes were being saved: from its checkpoint, else with its files alone.

        Raises: SandboxLost.
        """
        spec, checkpoint = self._spec_of(record), self._folder / record.sandbox_id
        try:
            if not checkpoint.is_dir():
                raise Unsupported("the checkpoint was not finished")
            found = await self._driver.restart(spec, checkpoint, _as_they_are)
        except (Unsupported, SandboxUnavailable, SnapshotUnusable, OSError) as error:
            log.warning("the processes of %s are lost, its files are there: %s", record.sandbox_id, error)
            try:
                found = await self._driver.create(spec)
            except SandboxUnavailable as worse:
                raise SandboxLost(f"{record.sandbox_id} could not be brought back: {worse}") from worse
        await self.forget(record.sandbox_id)
        return found

    def was_cut_off(self, sandbox_id: str) -> bool:
        """True if its processes were being saved when this process, or an earlier one, was stopped."""
        return any((self._folder / name).is_dir() for name in (sandbox_id, f"{sandbox_id}{PART}"))

    def _is_written(self, sandbox_id: str) -> bool:
        return self.was_cut_off(sandbox_id) and any(self._folder.glob(f"{sandbox_id}*/*"))

    async def forget(self, sandbox_id: str) -> None:
        """Remove what lies here of its checkpoint."""
        for name in (sandbox_id, f"{sandbox_id}{PART}"):
            await asyncio.to_thread(shutil.rmtree, self._folder / name, ignore_errors=True)

    def folders(self) -> dict[str, Path]:
        """Checkpoints that lie here now, by sandbox."""
        if not self._folder.is_dir():
            return {}
        return {path.name.removesuffix(PART): path for path in self._folder.iterdir()}

    async def settled(self, sandbox_id: str) -> None:
        """Wait until nobody saves its processes: nothing may connect to it meanwhile."""
        while (under_way := self._under_way.get(sandbox_id)) is not None:
            await under_way.wait()

    async def _processes(self, record: Record, name: str, *, stay: bool) -> Snapshot:
        """Whoever cancels this leaves it as it is: the folder of the checkpoint says that it has to be brought back."""
        try:
            checkpoint = await self._checkpointed(record.sandbox_id)
            trees = {PROCESS_TREE: FolderTree(checkpoint)}
            snapshot, _ = await both(self._taken(record, name, "process", trees), self._ended(record.sandbox_id))
        except (SnapshotFailed, SandboxBusy, Unsupported):
            await self.there(record)
            raise
        if stay:
            await self.go_on(record)
        return snapshot

    async def _ended(self, sandbox_id: str) -> None:
        try:
            await self._driver.ended(sandbox_id, END_SECONDS)
        except SandboxUnavailable as error:
            raise SnapshotFailed(f"nobody knows whether {sandbox_id} has ended: {error}") from error

    async def _checkpointed(self, sandbox_id: str) -> Path:
        """The folder is whole when it has lost the end of its name."""
        await self.forget(sandbox_id)
        part, whole = self._folder / f"{sandbox_id}{PART}", self._folder / sandbox_id
        await asyncio.to_thread(part.mkdir, mode=0o700, parents=True)
        opened = self._connections.kept(sandbox_id)
        try:
            if opened is not None:
                await opened.disconnect()
            await self._driver.checkpoint(sandbox_id, part)
        except (SnapshotFailed, SandboxBusy, Unsupported):
            await self.forget(sandbox_id)
            raise
        except (SandboxUnavailable, OSError) as error:
            raise SnapshotFailed(f"the processes of {sandbox_id} could not be saved: {error}") from error
        await asyncio.to_thread(part.rename, whole)
        return whole

    async def _restarted(self, spec: Spec, snapshot: Snapshot) -> Found:
        checkpoint = self._folder / spec.sandbox_id
        await asyncio.to_thread(checkpoint.mkdir, mode=0o700, parents=True, exist_ok=True)
        # The engine makes a container meanwhile.
        coming = asyncio.ensure_future(self._filled(snapshot, {PROCESS_TREE: FolderTree(checkpoint)}))

        async def fill(trees: Mapping[str, Tree]) -> None:
            await both(coming, self._filled(snapshot, trees))

        try:
            return await self._driver.restart(spec, checkpoint, fill)
        finally:
            coming.cancel()
            await asyncio.gather(coming, return_exceptions=True)
            await self.forget(spec.sandbox_id)

    async def _filled(self, snapshot: Snapshot, trees: Mapping[str, Tree]) -> None:
        if self._snapshots is None:
            raise SnapshotUnusable(f"{snapshot.digest}: {texts.NO_STORE.say(self._language)}")
        await self._snapshots.restore(snapshot.digest, trees)

    async def _taken(self, record: Record, name: str, kind: SnapshotKind, more: Mapping[str, Tree]) -> Snapshot:
        try:
            trees = {**await self._driver.trees(record.sandbox_id), **more}
        except Unsupported as error:
            raise SnapshotFailed(str(error)) from error
        if self._snapshots is None:
            raise SnapshotFailed(texts.NO_STORE.say(self._language))
        return await self._snapshots.take(
            owner=record.owner,
            name=name,
            kind=kind,
            trees=trees,
            parent=record.snapshot or record.restored,
            driver=self._driver.name,
            runtime=record.runtime,
            image=record.image,
        )

    @asynccontextmanager
    async def _nobody_enters(self, sandbox_id: str) -> AsyncIterator[None]:
        event = self._under_way[sandbox_id] = asyncio.Event()
        try:
            yield
        finally:
            del self._under_way[sandbox_id]
            event.set()


def lost(sandbox_id: str, why: str = "") -> SandboxLost:
    """With the cause, if the engine knows it."""
    return SandboxLost(f"the sandbox {sandbox_id} is gone{': ' if why else ''}{why}")


async def _as_they_are(_trees: Mapping[str, Tree]) -> None:
    """The folders of a sandbox outlive its processes."""
