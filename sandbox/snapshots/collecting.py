"""Remove what nobody needs: marked at one time, and removed at a later one if it is still so.

What a snapshot needs that is being taken meanwhile was either needed by its parent, or written a short time ago; in
both cases it cannot have been marked for longer than the taking lasts.
"""

import asyncio
import json
import logging
import shutil
import time
from collections.abc import Collection
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from contracts.sandbox import SnapshotUnusable
from sandbox.snapshots.listing import Manifest
from sandbox.snapshots.sealing import SealBroken
from sandbox.snapshots.shelf import ObjectMissing
from sandbox.snapshots.shelves import Shelves

READ_AT_ONCE = 8
PLACE = "asos/snapshot/marks"

log = logging.getLogger(__name__)


class Collector:
    """Collects in one store, and remembers the manifests that it has read: they never change."""

    def __init__(self, shelves: Shelves, scratch: Path, grace_seconds: float) -> None:
        self._shelves = shelves
        self._scratch = scratch
        self._grace_seconds = grace_seconds
        self._read: dict[str, Manifest] = {}

    async def collect(self, live: Collection[str], owners: Collection[str], now: datetime) -> int:
        """Gives how many snapshots went. Raises: ShelfUnreachable."""
        shelf, manifests = self._shelves.shelf, self._shelves.manifests
        digests = {name.rpartition("/")[2] for name in await shelf.names(manifests)}
        marks = await _marks(self._shelves)
        owned = await self._shelves.digests_of_all(owners) if owners else set()
        unnamed = {self._shelves.manifest(digest) for digest in digests.difference(live, owned)}
        condemned, waiting = _judged(unnamed, marks, now, self._grace_seconds)
        await shelf.delete(condemned)
        remains = {digest for digest in digests if self._shelves.manifest(digest) not in condemned}
        garbage = await _unneeded(self._shelves, self._read.values()) if await self._sees_all(remains) else set()
        removed, waiting_too = _judged(garbage, marks, now, self._grace_seconds)
        await shelf.delete(removed)
        await _remember(self._shelves, waiting | waiting_too)
        await shelf.tidy(self._grace_seconds)
        await asyncio.to_thread(_tidy, self._scratch, self._grace_seconds)
        return len(condemned)

    async def _sees_all(self, digests: set[str]) -> bool:
        """Whether all these manifests can be read; else nobody knows which data is needed."""
        room = asyncio.Semaphore(READ_AT_ONCE)

        async def read(digest: str) -> tuple[str, Manifest] | None:
            if digest in self._read:
                return digest, self._read[digest]
            async with room:
                try:
                    return digest, await self._shelves.read_manifest(digest)
                except SnapshotUnusable as error:
                    log.warning("no data of snapshots is collected: %s", error)
                    return None

        found = [each for each in await asyncio.gather(*map(read, sorted(digests))) if each is not None]
        self._read = dict(found)
        return len(found) == len(digests)


def _judged(
    garbage: set[str], marks: dict[str, float], now: datetime, grace_seconds: float
) -> tuple[set[str], dict[str, float]]:
    """What has been garbage for long enough, and since when the rest has been so."""
    since = {name: marks.get(name, now.timestamp()) for name in garbage}
    old = {name for name, first in since.items() if now.timestamp() - first >= grace_seconds}
    return old, {name: first for name, first in since.items() if name not in old}


async def _unneeded(shelves: Shelves, manifests: Collection[Manifest]) -> set[str]:
    # What is there is listed first: what came later is none of it.
    there = await asyncio.gather(*map(shelves.shelf.names, (shelves.layers, shelves.listings, shelves.owners)))
    needed = {shelves.layer(name) for manifest in manifests for name in manifest.layers}
    needed |= {shelves.listing(manifest.listing) for manifest in manifests}
    needed |= {f"{shelves.of_owner(manifest.owner)}/{manifest.digest}" for manifest in manifests}
    return {name for names in there for name in names if name not in needed}


async def _marks(shelves: Shelves) -> dict[str, float]:
    """Since when objects have been garbage; none if that is not known."""
    with suppress(ObjectMissing, SealBroken, ValueError):
        found: dict[str, float] = json.loads(shelves.seal.open(await shelves.shelf.get(shelves.marks), PLACE))
        return found
    return {}


async def _remember(shelves: Shelves, marks: dict[str, float]) -> None:
    text = json.dumps(marks, sort_keys=True).encode()
    await shelves.shelf.put(shelves.marks, shelves.seal.close(text, PLACE))


def _tidy(scratch: Path, grace_seconds: float) -> None:
    """Of restorations that were ended in the middle."""
    for path in scratch.glob("restoring-*"):
        with suppress(FileNotFoundError):
            if time.time() - path.stat().st_mtime >= grace_seconds:
                shutil.rmtree(path, ignore_errors=True)
