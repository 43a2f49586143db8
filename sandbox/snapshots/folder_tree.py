"""A tree that lies in a folder of this machine."""

import os
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Sequence
from contextlib import aclosing
from pathlib import Path

from sandbox.snapshots.descending import FOLDER
from sandbox.snapshots.filling import Filler, empty
from sandbox.snapshots.threads import ahead, in_thread
from sandbox.snapshots.tree import Part, Wanted
from sandbox.snapshots.walking import Bounds, walk

BATCH_BYTES = 4 * 1024 * 1024
BATCH_PARTS = 1_000


class FolderTree:
    """Satisfies sandbox.snapshots.tree.Tree."""

    def __init__(self, path: Path, *, uid: int | None = None, bounds: Bounds | None = None) -> None:
        """What is filled in belongs to the user `uid`, or to this process's own."""
        self.path = path
        self.uid = uid
        self._bounds = bounds or Bounds()

    async def read(self, wanted: Wanted) -> AsyncGenerator[Sequence[Part], None]:
        parts = walk(self.path, wanted, self._bounds)
        try:
            # Closed here, and not whenever it is found: its thread still reads from `parts`.
            async with aclosing(ahead(lambda: batch_of(parts))) as batches:
                async for batch in batches:
                    yield batch
        finally:
            await in_thread(parts.close)

    async def fill(self, parts: AsyncIterator[Sequence[Part]]) -> None:
        top = await in_thread(os.open, self.path, FOLDER)
        try:
            await in_thread(empty, top)
            filler = Filler(top, self.uid)
            try:
                async for batch in parts:
                    await in_thread(filler.take, batch)
                await in_thread(filler.finish)
            finally:
                filler.close()
        finally:
            os.close(top)


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
