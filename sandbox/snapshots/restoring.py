"""Bring the trees of a snapshot back: first everything that is needed is checked, then it is put in place."""

import asyncio
import os
import shutil
import tempfile
from collections import OrderedDict
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from hashlib import file_digest
from pathlib import Path

from contracts.sandbox import SnapshotUnusable
from sandbox.snapshots.listing import HOLE, Entry, Listing, Manifest, Piece
from sandbox.snapshots.packing import AT_ONCE, unboxed
from sandbox.snapshots.sealing import Seal, SealBroken
from sandbox.snapshots.shelves import Shelves
from sandbox.snapshots.tree import Part, Tree

KEPT_BLOCKS = 32
"""Blocks that stay opened: files that share one come one after the other, but some blocks are met again."""
BATCH_BYTES = 4 * 1024 * 1024
BATCH_PARTS = 1_000


async def bring_back(shelves: Shelves, manifest: Manifest, trees: Mapping[str, Tree], scratch: Path) -> None:
    """Trees that the snapshot does not hold stay as they are. Raises: SnapshotUnusable before anything is changed;
    ShelfUnreachable, TreeUnfilled, OSError."""
    whole = await shelves.read_listing(manifest)
    wanted = {name: entries for name, entries in whole.trees.items() if name in trees}
    if not wanted:
        held, asked = ", ".join(sorted(whole.trees)), ", ".join(sorted(trees))
        raise SnapshotUnusable(f"snapshot {manifest.digest} holds {held or 'nothing'} and none of {asked}")
    listing = whole.only(wanted)
    async with _checked_layers(shelves, manifest, listing, scratch) as layers:
        for name, entries in listing.trees.items():
            ordered = _in_order(entries)
            await trees[name].fill(_parts(ordered, _Blocks(shelves.seal, manifest, listing, layers, ordered)))


@asynccontextmanager
async def _checked_layers(
    shelves: Shelves, manifest: Manifest, listing: Listing, scratch: Path
) -> AsyncIterator[list[int]]:
    """Descriptors of all layers of the listing, each found to be what its name says."""
    await asyncio.to_thread(scratch.mkdir, mode=0o700, parents=True, exist_ok=True)
    folder = Path(await asyncio.to_thread(tempfile.mkdtemp, dir=scratch, prefix="restoring-"))
    descriptors: dict[str, int] = {}
    room = asyncio.Semaphore(AT_ONCE)

    async def bring(name: str) -> None:
        async with room:
            path = await shelves.bring_layer(manifest, name, folder)
            descriptors[name] = await asyncio.to_thread(os.open, path, os.O_RDONLY | os.O_CLOEXEC)
            if await asyncio.to_thread(_sha256, descriptors[name]) != name:
                raise SnapshotUnusable(f"snapshot {manifest.digest}: its layer {name} was changed")

    try:
        bringing = [asyncio.ensure_future(bring(name)) for name in listing.layers]
        try:
            await asyncio.gather(*bringing)
        finally:
            for task in bringing:
                task.cancel()
            await asyncio.gather(*bringing, return_exceptions=True)
        yield [descriptors[name] for name in listing.layers]
    finally:
        for descriptor in descriptors.values():
            os.close(descriptor)
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)


def _sha256(descriptor: int) -> str:
    with os.fdopen(os.dup(descriptor), "rb", buffering=0) as file:
        return file_digest(file, "sha256").hexdigest()


def _in_order(entries: Sequence[Entry]) -> list[Entry]:
    """Folders first; then files in the order of their blocks, so that each block is opened about once; twins last."""
    folders = [entry for entry in entries if entry.node.kind == "folder"]
    links = [entry for entry in entries if entry.node.kind == "link"]
    files = [entry for entry in entries if entry.node.kind == "file"]
    twins = [entry for entry in entries if entry.node.kind == "twin"]
    files.sort(key=lambda entry: entry.pieces[0][:2] if entry.pieces else (HOLE, 0))
    return [*folders, *links, *files, *twins]


async def _parts(entries: Sequence[Entry], blocks: "_Blocks") -> AsyncIterator[Sequence[Part]]:
    batch: list[Part] = []
    size = 0
    try:
        for entry in entries:
            batch.append(Part(entry.node))
            for piece in entry.pieces:
                if piece.block == HOLE:
                    batch.append(Part(hole=piece.size))
                else:
                    batch.append(Part(content=await blocks.content(piece)))
                    size += piece.size
                if size >= BATCH_BYTES or len(batch) >= BATCH_PARTS:
                    yield batch
                    batch, size = [], 0
        if batch:
            yield batch
    finally:
        await blocks.close()


class _Blocks:
    """Opens blocks in threads, a few ahead of their use."""

    def __init__(
        self, seal: Seal, manifest: Manifest, listing: Listing, layers: Sequence[int], entries: Sequence[Entry]
    ) -> None:
        self._seal = seal
        self._manifest = manifest
        self._listing = listing
        self._layers = layers
        self._opened: OrderedDict[int, asyncio.Future[bytes]] = OrderedDict()
        order = OrderedDict.fromkeys(p.block for entry in entries for p in entry.pieces if p.block != HOLE)
        self._coming = iter(order)

    async def content(self, piece: Piece) -> bytes:
        """Raises: SnapshotUnusable."""
        opening = self._opened.get(piece.block) or self._open(piece.block)
        self._opened.move_to_end(piece.block)
        block = await opening
        return block if piece.size == len(block) else block[piece.offset : piece.offset + piece.size]

    async def close(self) -> None:
        await asyncio.gather(*self._opened.values(), return_exceptions=True)

    def _open(self, number: int) -> "asyncio.Future[bytes]":
        """The block, and the next few that will be asked for."""
        self._start(number)
        for _ in range(AT_ONCE):
            if (following := next(self._coming, None)) is not None:
                self._start(following)
        while len(self._opened) > KEPT_BLOCKS and next(iter(self._opened.values())).done():
            self._opened.popitem(last=False)
        return self._opened[number]

    def _start(self, number: int) -> None:
        if number not in self._opened:
            self._opened[number] = asyncio.ensure_future(asyncio.to_thread(self._read, number))

    def _read(self, number: int) -> bytes:
        block = self._listing.blocks[number]
        try:
            return unboxed(self._seal, os.pread(self._layers[block.layer], block.length, block.offset), block)
        except SealBroken as error:
            name = self._listing.layers[block.layer]
            raise SnapshotUnusable(f"snapshot {self._manifest.digest}: its layer {name}: {error}") from error
