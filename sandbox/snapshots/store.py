"""All snapshots of an installation: take, restore, find, and forget them."""

import asyncio
import logging
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from contracts.sandbox import SandboxUnavailable, Snapshot, SnapshotFailed, SnapshotKind, SnapshotUnusable
from sandbox.snapshots.collecting import Collector
from sandbox.snapshots.listing import Manifest
from sandbox.snapshots.reclaiming import RECLAIMED, project_files
from sandbox.snapshots.restoring import bring_back
from sandbox.snapshots.sealing import Seal, SnapshotKeys
from sandbox.snapshots.shelf import ObjectMissing, Shelf, ShelfUnreachable
from sandbox.snapshots.shelves import Shelves
from sandbox.snapshots.taking import read_and_store
from sandbox.snapshots.tree import Tree, TreeUnfilled, TreeUnreadable

DIGEST = re.compile(r"[0-9a-f]{64}")
GRACE_SECONDS = 6 * 3_600.0
TAKE_SECONDS = 3 * 3_600.0
"""Longest time for one snapshot. It has to be well below the grace, for which what nobody names is kept: what a
snapshot needs that is just being taken is named by nobody yet."""
READ_AT_ONCE = 8

log = logging.getLogger(__name__)


class Snapshots:
    """Several processes and hosts may use one store at once."""

    def __init__(
        self,
        shelf: Shelf,
        keys: SnapshotKeys,
        *,
        scratch: Path,
        grace_seconds: float = GRACE_SECONDS,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """`scratch` is a folder of this machine for what is on its way; what lies there is sealed."""
        self._shelves = Shelves(shelf, Seal(keys))
        self._scratch = scratch
        self._collector = Collector(self._shelves, scratch, grace_seconds)
        self._now = now

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
        """Save these trees; what is unchanged since the parent is neither read nor stored again. Nothing of a failed
        one counts. Raises: SnapshotFailed."""
        begun = Manifest(
            format=1,
            kind=kind,
            owner=owner,
            name=name,
            parent=parent,
            created_at=self._now(),
            files=0,
            bytes_total=0,
            bytes_added=0,
            driver=driver,
            runtime=runtime,
            image=image,
            listing="",
            layers=(),
        )
        try:
            async with asyncio.timeout(TAKE_SECONDS):
                manifest = await read_and_store(self._shelves, begun, trees)
                await self._shelves.write_manifest(manifest)
        except TimeoutError as error:
            raise SnapshotFailed(f"snapshot {name!r} of {owner} took longer than {TAKE_SECONDS:.0f} s") from error
        except (TreeUnreadable, ShelfUnreachable, ObjectMissing, OSError) as error:
            raise SnapshotFailed(f"snapshot {name!r} of {owner} could not be taken: {error}") from error
        return manifest.snapshot()

    async def restore(self, digest: str, trees: Mapping[str, Tree]) -> Snapshot:
        """Put these trees into the state of the snapshot; those that it does not hold stay as they are. Everything
        needed is checked before anything is changed. Raises: SnapshotUnusable, SandboxUnavailable."""
        with _reachable():
            manifest = await self._shelves.read_manifest(_checked(digest))
            try:
                await bring_back(self._shelves, manifest, trees, self._scratch)
            except (TreeUnfilled, OSError) as error:
                raise SandboxUnavailable(f"snapshot {digest} could not be put in place: {error}") from error
        return manifest.snapshot()

    async def find(self, digest: str) -> Snapshot:
        """Raises: SnapshotUnusable, SandboxUnavailable if the store does not answer."""
        with _reachable():
            return (await self._shelves.read_manifest(_checked(digest))).snapshot()

    async def of(self, owner: str) -> Sequence[Snapshot]:
        """Those of one owner that can be read, newest first. Raises: SandboxUnavailable."""
        return [manifest.snapshot() for manifest in await self._manifests_of(owner)]

    async def reclaim(self, owner: str, latest: str) -> Snapshot | None:
        """Keep the project files of the latest, as a snapshot that shares its data; None if there are no such files.
        The others stay until `collect` finds that nobody names them: a fork may have begun with one. Once more gives
        the same. Raises: SnapshotUnusable, SnapshotFailed, SandboxUnavailable."""
        others = await self._manifests_of(owner)
        done = [each for each in others if each.parent == latest and each.name == RECLAIMED]
        if done:
            return done[0].snapshot()
        if not others and not await self._is_there(latest):
            return None
        kept = await self._reclaimed(owner, latest)
        return kept.snapshot() if kept else None

    async def forget(self, digest: str) -> None:
        """It is no longer there; its data is collected later. One that is gone already is no error. Raises:
        SandboxUnavailable."""
        with _reachable():
            name = self._shelves.manifest(_checked(digest))
            try:
                manifest = await self._shelves.read_manifest(digest)
            except SnapshotUnusable:
                await self._shelves.shelf.delete([name])
                return
            await self._shelves.remove([manifest])

    async def collect(self, live: Collection[str], owners: Collection[str] = ()) -> int:
        """Remove snapshots that are neither among these digests nor belong to one of these owners, and data that no
        snapshot needs, once that has been so for the time of grace. Gives how many snapshots went. Raises:
        SandboxUnavailable."""
        with _reachable():
            return await self._collector.collect(live, owners, self._now())

    async def close(self) -> None:
        """Nothing is held open between calls."""

    async def _manifests_of(self, owner: str) -> list[Manifest]:
        room = asyncio.Semaphore(READ_AT_ONCE)

        async def read(digest: str) -> Manifest | None:
            async with room:
                try:
                    return await self._shelves.read_manifest(digest)
                except SnapshotUnusable as error:
                    log.warning("a snapshot of %s is left out: %s", owner, error)
                    return None

        with _reachable():
            found = await asyncio.gather(*map(read, await self._shelves.digests_of(owner)))
        return sorted((each for each in found if each is not None), key=lambda each: each.created_at, reverse=True)

    async def _is_there(self, digest: str) -> bool:
        with _reachable():
            return not await self._shelves.shelf.missing([self._shelves.manifest(_checked(digest))])

    async def _reclaimed(self, owner: str, latest: str) -> Manifest | None:
        with _reachable():
            before = await self._shelves.read_manifest(_checked(latest))
            whole = await self._shelves.read_listing(before)
        kept = await asyncio.to_thread(project_files, whole, before)
        if kept is None:
            return None
        listing, manifest = kept
        try:
            name, size = await self._shelves.write_listing(await asyncio.to_thread(listing.to_bytes))
            told = {"owner": owner, "created_at": self._now(), "listing": name, "bytes_added": size}
            manifest = manifest.model_copy(update=told)
            await self._shelves.write_manifest(manifest)
        except ShelfUnreachable as error:
            raise SnapshotFailed(f"the project files of {owner} could not be kept: {error}") from error
        return manifest


def _checked(digest: str) -> str:
    if DIGEST.fullmatch(digest) is None:
        raise SnapshotUnusable(f"{digest[:80]!r} is no digest of a snapshot")
    return digest


@contextmanager
def _reachable() -> Iterator[None]:
    """A store that does not answer may answer later: that is no reason to give a snapshot up."""
    try:
        yield
    except ShelfUnreachable as error:
        raise SandboxUnavailable(f"the store of snapshots: {error}") from error
