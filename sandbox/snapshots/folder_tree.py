"""A tree that lies in a folder of this machine."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from sandbox.snapshots.descending import FOLDER, opened
from sandbox.snapshots.filling import Filler, empty
from sandbox.snapshots.tree import Part, Wanted
from sandbox.snapshots.walking import Bounds, walk

BATCH_BYTES = 4 * 1024 * 1024
BATCH_PARTS = 1_000

T = TypeVar("T")


class FolderTree:
    """Satisfies sandbox.snapshots.tree.Tree."""

    def __init__(self, path: Path, *, uid: int | None = None, bounds: Bounds | None = None) -> None:
        """What is filled in belongs to the user `uid`, or to this process's own."""
        self._path = path
        self._uid = uid
        self._bounds = bounds or Bounds()

    async def read(self, wanted: Wanted) -> AsyncIterator[Sequence[Part]]:
        parts = walk(self._path, wanted, self._bounds)
        try:
            async for batch in ahead(lambda: batch_of(parts)):
                yield batch
        finally:
            await asyncio.to_thread(parts.close)

    async def fill(self, parts: AsyncIterator[Sequence[Part]]) -> None:
        with opened(await asyncio.to_thread(os.open, self._path, FOLDER)) as top:
            await asyncio.to_thread(empty, top)
            filler = Filler(top, self._uid)
            try:
                async for batch in parts:
                    await asyncio.to_thread(filler.take, batch)
                await asyncio.to_thread(filler.finish)
            finally:
                filler.close()

    async def disk_bytes(self) -> int:
        """What it takes on disk, holes left out. Raises: OSError."""
        return await asyncio.to_thread(_blocks_below, self._path)


def batch_of(parts: Iterator[Part]) -> list[Part]:
    """The next parts that may be held in memory at once; none at the end."""
    batch: list[Part] = []
    size = 0
    for part in parts:
        batch.append(part)
        size += len(part.content)
        if size >= BATCH_BYTES or len(batch) >= BATCH_PARTS:
            break
    return batch


async def ahead(following: Callable[[], list[T]]) -> AsyncIterator[list[T]]:
    """What `following` gives until it gives nothing; each is made in a thread while the former is being used."""
    coming = asyncio.ensure_future(asyncio.to_thread(following))
    try:
        while batch := await coming:
            coming = asyncio.ensure_future(asyncio.to_thread(following))
            yield batch
    finally:
        with suppress(Exception):  # it is not wanted any more, whatever came of it
            await coming


def _blocks_below(path: Path) -> int:
    total = 0
    for _, folders, files, descriptor in os.fwalk(path, onerror=None):
        for name in (*folders, *files):
            with suppress(FileNotFoundError):
                total += os.stat(name, dir_fd=descriptor, follow_symlinks=False).st_blocks * 512
    return total
