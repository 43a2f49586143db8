"""Remove what nobody needs: marked at one time, and removed at a later one if it is still so.

What a snapshot needs that is being taken meanwhile was either needed by its parent, or written a short time ago; in
both cases it cannot have been marked for longer than the taking lasts.
"""

import asyncio
import json
import shutil
import time
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


async def collected(shelves: Shelves, live: frozenset[str], now: datetime, grace_seconds: float, scratch: Path) -> int:
    """Gives how many snapshots went. Raises: ShelfUnreachable."""
    names = await shelves.shelf.names(shelves.manifests)
    marks = await _marks(shelves)
    unnamed = {name for name in names if name.rpartition("/")[2] not in live}
    condemned, marks_now = _judged(unnamed, marks, now, grace_seconds)
    await shelves.shelf.delete(condemned)
    remains, blind = await _read([name for name in names if name not in condemned], shelves)
    garbage = set() if blind else await _unneeded(shelves, remains)
    removed, marks_of_data = _judged(garbage, marks, now, grace_seconds)
    await shelves.shelf.delete(removed)
    await _remember(shelves, marks_now | marks_of_data)
    await shelves.shelf.tidy(grace_seconds)
    await asyncio.to_thread(_tidy, scratch, grace_seconds)
    return len(condemned)


def _judged(
    garbage: set[str], marks: dict[str, float], now: datetime, grace_seconds: float
) -> tuple[set[str], dict[str, float]]:
    """What has been garbage for long enough, and since when the rest has been so."""
    since = {name: marks.get(name, now.timestamp()) for name in garbage}
    old = {name for name, first in since.items() if now.timestamp() - first >= grace_seconds}
    return old, {name: first for name, first in since.items() if name not in old}


async def _read(names: list[str], shelves: Shelves) -> tuple[list[Manifest], bool]:
    """The manifests, and whether there is one that cannot be read: nobody knows then which data it needs."""
    room = asyncio.Semaphore(READ_AT_ONCE)

    async def read(name: str) -> Manifest | SnapshotUnusable:
        async with room:
            try:
                return await shelves.read_manifest(name.rpartition("/")[2])
            except SnapshotUnusable as error:
                return error

    found = await asyncio.gather(*map(read, names))
    manifests = [each for each in found if isinstance(each, Manifest)]
    return manifests, len(manifests) < len(found)


async def _unneeded(shelves: Shelves, manifests: list[Manifest]) -> set[str]:
    needed = {shelves.layer(name) for manifest in manifests for name in manifest.layers}
    needed |= {f"{shelves.listings}/{manifest.listing}" for manifest in manifests}
    needed |= {f"{shelves.of_owner(manifest.owner)}/{manifest.digest}" for manifest in manifests}
    there = await asyncio.gather(*map(shelves.shelf.names, (shelves.layers, shelves.listings, shelves.owners)))
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
