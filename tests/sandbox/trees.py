"""Reading and filling trees as a snapshot does it, all of a tree at once."""

from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from pathlib import Path

from sandbox.snapshots.tree import Node, Part, Tree


async def parts_of(tree: Tree) -> list[Part]:
    async with aclosing(tree.read(lambda _: True)) as batches:
        return [part async for batch in batches for part in batch]


async def nodes_of(tree: Tree) -> dict[str, Node]:
    return {part.node.path: part.node for part in await parts_of(tree) if part.node is not None}


async def given(*parts: Part) -> AsyncIterator[Sequence[Part]]:
    yield parts


async def poured(source: Tree, into: Tree) -> None:
    """Node for node, as a snapshot does it, with the sizes that were really read."""
    await into.fill(given(*await parts_of(source)))


def names_in(folder: Path) -> set[str]:
    return {each.name for each in folder.iterdir()}


def made(folder: Path) -> Path:
    folder.mkdir()
    return folder
