"""Compress and seal blocks, several at once, and put them together into layers of the store."""

import asyncio
import os
from dataclasses import dataclass, field
from hashlib import sha256

import zstandard

from sandbox.snapshots.listing import Block
from sandbox.snapshots.sealing import Seal, SealBroken
from sandbox.snapshots.shelf import Shelf
from sandbox.snapshots.sorting import Full

LAYER_BYTES = 8 * 1024 * 1024
LEVEL = 1
RAW, COMPRESSED = b"\0", b"\1"
WORTH_IT = 0.95
"""A block that does not become smaller than this is kept as it is."""
SAMPLES, SAMPLE_BYTES = 8, 8 * 1024
HOPELESS = 0.99
"""Samples know less of repetitions than the whole, so they must say it clearly."""
AT_ONCE = min(os.cpu_count() or 1, 8) + 1
STORED_AT_ONCE = 4


@dataclass
class _Layer:
    """A layer that is being put together, by the numbers of its blocks."""

    boxes: list[bytes] = field(default_factory=list)
    blocks: dict[int, Block] = field(default_factory=dict)
    size: int = 0


class Packer:
    """Packs for one snapshot; never more than AT_ONCE blocks and STORED_AT_ONCE layers are under way. Use as a context:
    what still goes on at its end is stopped."""

    def __init__(self, shelf: Shelf, seal: Seal, folder: str) -> None:
        self._shelf = shelf
        self._seal = seal
        self._folder = folder
        self._under_way: set[asyncio.Task[None]] = set()
        # Apart, so that the processors have work while the disk or the network is waited for.
        self._packing = asyncio.Semaphore(AT_ONCE)
        self._storing = asyncio.Semaphore(STORED_AT_ONCE)
        self._open: dict[bool, _Layer] = {}
        self._stored: dict[int, Block] = {}
        self._names: list[str] = []
        self.bytes_added = 0

    async def __aenter__(self) -> "Packer":
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self._under_way:
            task.cancel()
        await asyncio.gather(*self._under_way, return_exceptions=True)

    async def put(self, full: Full) -> None:
        """Waits only while too much is under way. Raises: ShelfUnreachable, also for an earlier block."""
        await self._packing.acquire()
        self._look()
        self._under_way.add(asyncio.ensure_future(self._pack(full)))

    async def finish(self) -> tuple[dict[int, Block], list[str]]:
        """When all is stored: where each block lies, and the layers that they count. Raises: ShelfUnreachable."""
        await self._all_done()
        for layer in self._open.values():
            await self._storing.acquire()
            self._under_way.add(asyncio.ensure_future(self._store(layer)))
        await self._all_done()
        return self._stored, self._names

    async def _all_done(self) -> None:
        while self._under_way:
            await asyncio.wait(self._under_way, return_when=asyncio.FIRST_EXCEPTION)
            self._look()

    def _look(self) -> None:
        """Raises: what a block or layer that is done has failed with."""
        done = {task for task in self._under_way if task.done()}
        self._under_way -= done
        for task in done:
            task.result()

    async def _pack(self, full: Full) -> None:
        try:
            box, digest = await asyncio.to_thread(boxed, self._seal, full)
            layer = self._open.setdefault(full.project, _Layer())
            layer.blocks[full.number] = Block(0, layer.size, len(box), len(full.content), digest)
            layer.boxes.append(box)
            layer.size += len(box)
            if is_whole := layer.size >= LAYER_BYTES:
                del self._open[full.project]
                await self._storing.acquire()
        finally:
            self._packing.release()
        if is_whole:
            await self._store(layer)

    async def _store(self, layer: _Layer) -> None:
        try:
            content, name = await asyncio.to_thread(_named, layer.boxes)
            await self._shelf.put(f"{self._folder}/{name}", content)
        finally:
            self._storing.release()
        number = len(self._names)
        self._names.append(name)
        self._stored.update({block: place._replace(layer=number) for block, place in layer.blocks.items()})
        self.bytes_added += len(content)


def boxed(seal: Seal, full: Full) -> tuple[bytes, str]:
    """The sealed block and its digest."""
    digest = full.digest or seal.name(full.content)
    return seal.close(_smaller(full.content) or RAW + full.content, _place(digest)), digest


def _smaller(content: bytes) -> bytes | None:
    """None if it is not worth it. A few samples tell it of what is compressed or random, at a tenth of the time."""
    compress = zstandard.ZstdCompressor(level=LEVEL).compress
    if len(content) > 2 * SAMPLES * SAMPLE_BYTES:
        step = len(content) // SAMPLES
        sample = b"".join(content[at : at + SAMPLE_BYTES] for at in range(0, step * SAMPLES, step))
        if len(compress(sample)) >= len(sample) * HOPELESS:
            return None
    smaller = COMPRESSED + compress(content)
    return smaller if len(smaller) < len(content) * WORTH_IT else None


def unboxed(seal: Seal, box: bytes, block: Block) -> bytes:
    """Raises: SealBroken."""
    # That it opens at the place of its digest says that it was closed with that content: the digest need not be taken.
    plain = seal.open(box, _place(block.digest))
    content = plain[1:]
    if plain[:1] == COMPRESSED:
        try:
            content = zstandard.ZstdDecompressor().decompress(content, max_output_size=block.size)
        except zstandard.ZstdError as error:
            raise SealBroken(f"its content cannot be read ({error})") from error
    if len(content) != block.size:
        raise SealBroken("its content has not the size that it had")
    return content


def _place(digest: str) -> str:
    return f"asos/snapshot/block:{digest}"


def _named(boxes: list[bytes]) -> tuple[bytes, str]:
    content = b"".join(boxes)
    return content, sha256(content).hexdigest()
