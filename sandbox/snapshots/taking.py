"""Take a snapshot: read what changed, store it as layers, and last of all the manifest that makes it count."""

import asyncio
from collections import Counter
from collections.abc import Mapping

from contracts.sandbox import SnapshotUnusable
from sandbox.snapshots.listing import HOLE, Listing, Manifest, pieces_of
from sandbox.snapshots.packing import LAYER_BYTES, Packer
from sandbox.snapshots.shelves import Shelves
from sandbox.snapshots.sorting import Sorter
from sandbox.snapshots.tree import Tree

LIVE_SHARE = 0.3
"""A layer of which less than this is still in use is written anew rather than carried along."""
MOST_SMALL_LAYERS = 24
SMALL_LAYER = LAYER_BYTES // 8


async def read_and_store(shelves: Shelves, manifest: Manifest, trees: Mapping[str, Tree]) -> Manifest:
    """Store the trees, and give the manifest with what is known of them now; it is not written yet.

    Raises: TreeUnreadable, ShelfUnreachable, OSError."""
    parent = await _parent(shelves, manifest.parent)
    unusable = await _unusable(shelves, parent) if parent else set()
    sorter = await asyncio.to_thread(Sorter, shelves.seal, parent, unusable)
    async with Packer(shelves.shelf, shelves.seal, shelves.layers) as packer:
        for name, tree in trees.items():
            await asyncio.to_thread(sorter.begin, name)
            async for parts in tree.read(sorter.wanted):
                for full in await asyncio.to_thread(sorter.sort, parts):
                    await packer.put(full)
        for full in await asyncio.to_thread(sorter.end):
            await packer.put(full)
        listing = await asyncio.to_thread(sorter.listing, *await packer.finish())
        name, size = await shelves.write_listing(await asyncio.to_thread(listing.to_bytes))
        told = {"files": sorter.files, "bytes_total": sorter.bytes_total, "bytes_added": packer.bytes_added + size}
        return manifest.model_copy(update={**told, "listing": name, "layers": listing.layers})


async def _parent(shelves: Shelves, digest: str | None) -> Listing | None:
    """What can be taken over; without it everything is read and stored once more."""
    if digest is None:
        return None
    try:
        return await shelves.read_listing(await shelves.read_manifest(digest))
    except SnapshotUnusable:
        return None


async def _unusable(shelves: Shelves, parent: Listing) -> set[int]:
    """Layers from which nothing is to be taken over: gone, mostly of no use any more, or too many small ones."""
    gone = await shelves.missing_layers(parent.layers)
    lengths, used, held = Counter[int](), Counter[int](), Counter[int]()
    for block in parent.blocks:
        lengths[block.layer] += block.length
        held[block.layer] += block.size
    for piece in {piece for piece in pieces_of(parent.trees) if piece.block != HOLE}:
        used[parent.blocks[piece.block].layer] += piece.size
    small = {layer for layer, length in lengths.items() if length < SMALL_LAYER}
    return {
        layer
        for layer, name in enumerate(parent.layers)
        if name in gone or used[layer] < held[layer] * LIVE_SHARE or (len(small) > MOST_SMALL_LAYERS and layer in small)
    }
