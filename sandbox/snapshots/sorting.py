"""Of what a tree gives, find what the store has already, and put the rest together into blocks."""

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field, replace

from sandbox.snapshots.listing import HOLE, Block, Entry, Listing, Piece
from sandbox.snapshots.sealing import Seal
from sandbox.snapshots.tree import Node, Part

BLOCK_BYTES = 1024 * 1024
"""Small files are put together up to this size: 10,000 frames of zstd cost ten times what 40 do."""

UNSEALED = Block(layer=-1, offset=0, length=0, size=0, digest="")
"""Where a block lies is known when it is stored."""

PROJECT_TREE = "workspace"
REMADE = frozenset(
    {"node_modules", ".venv", "venv", "__pycache__", ".cache", "target", ".tox", ".mypy_cache", ".pytest_cache"}
)
"""Folders of a project whose content its tools make again."""


def is_project(tree: str, path: str) -> bool:
    """Whether it stays when only the project files of a sandbox are kept."""
    return tree == PROJECT_TREE and REMADE.isdisjoint(path.split("/"))


@dataclass(frozen=True)
class Full:
    """A block that waits to be sealed."""

    number: int
    """In the listing that is being made."""
    project: bool
    """Project files lie in layers of their own, so that the others need not be kept with them."""
    content: bytes
    digest: str = ""
    """Of a single piece, which is known already; of several it is not."""


@dataclass
class _Open:
    """A block that is being put together."""

    number: int
    pieces: list[bytes] = field(default_factory=list)
    size: int = 0
    digest: str = ""
    """Of the piece that came last."""

    def add(self, content: bytes, digest: str) -> None:
        self.pieces.append(content)
        self.size += len(content)
        self.digest = digest

    def full(self, project: bool) -> Full:
        if len(self.pieces) == 1:
            return Full(self.number, project, self.pieces[0], self.digest)
        return Full(self.number, project, b"".join(self.pieces))


class Sorter:
    """Takes the parts of all trees, one batch after the other, in whatever thread, but one at a time."""

    def __init__(self, seal: Seal, parent: Listing | None, unusable: Set[int]) -> None:
        """Nothing is taken over from the parent that lies in an `unusable` layer of it."""
        self._seal = seal
        self._blocks: list[Block] = list(parent.blocks) if parent else []
        self._layers = parent.layers if parent else ()
        self._known: dict[tuple[bool, str], Piece] = {}
        self._before: dict[tuple[str, str], Entry] = {}
        self._entries: dict[str, list[Entry]] = {}
        self._open: dict[bool, _Open] = {}
        self._tree = ""
        self._pieces: list[Piece] = []
        self.bytes_total = 0
        for tree, entries in parent.trees.items() if parent else ():
            for entry in entries:
                self._remember(tree, entry, unusable)

    def begin(self, tree: str) -> None:
        """What comes now belongs to this tree."""
        self._end_file()
        self._tree = tree
        self._entries[tree] = []

    def wanted(self, node: Node) -> bool:
        """Whether the content of a file has to be read."""
        return self._same(node) is None

    def sort(self, parts: Sequence[Part]) -> list[Full]:
        """Gives the blocks that are full now."""
        return list(self._sorted(parts))

    def end(self) -> list[Full]:
        """The last blocks, as full as they are."""
        self._end_file()
        full = [block.full(project) for project, block in self._open.items()]
        self._open.clear()
        return full

    def listing(self, new: dict[int, Block], layers: Sequence[str]) -> Listing:
        """All that was sorted, with what became of the blocks; their layers are counted on from those of the parent."""
        for number, block in new.items():
            self._blocks[number] = block._replace(layer=block.layer + len(self._layers))
        whole = Listing({}, tuple(self._blocks), (*self._layers, *layers))
        return whole.only({tree: tuple(entries) for tree, entries in self._entries.items()})

    @property
    def files(self) -> int:
        kinds = (entry.node.kind for entries in self._entries.values() for entry in entries)
        return sum(kind in ("file", "twin") for kind in kinds)

    def _sorted(self, parts: Sequence[Part]) -> Iterator[Full]:
        for part in parts:
            if part.node is not None:
                self._end_file()
                self._entries[self._tree].append(self._same(part.node) or Entry(part.node))
            if part.hole:
                self._add_hole(part.hole)
            if part.content:
                yield from self._add(part.content)
            if part.changed:
                last = self._entries[self._tree][-1]
                self._entries[self._tree][-1] = Entry(replace(last.node, stamp=""), last.pieces)

    def _same(self, node: Node) -> Entry | None:
        """A file that is unchanged since the parent, with what its name tells now."""
        if node.kind != "file" or not node.stamp:
            return None
        before = self._before.get((self._tree, node.path))
        return Entry(node, before.pieces) if before is not None and before.node.stamp == node.stamp else None

    def _add(self, content: bytes) -> Iterator[Full]:
        digest = self._seal.name(content)
        project = is_project(self._tree, self._entries[self._tree][-1].node.path)
        piece = self._known.get((project, digest))
        if piece is None:
            block = self._open.get(project) or self._opened(project)
            piece = Piece(block.number, block.size, len(content), digest)
            block.add(content, digest)
            self._known[project, digest] = piece
            if block.size >= BLOCK_BYTES:
                yield block.full(project)
                del self._open[project]
        self._pieces.append(piece)

    def _add_hole(self, size: int) -> None:
        if self._pieces and self._pieces[-1].block == HOLE:
            size += self._pieces.pop().size
        self._pieces.append(Piece(HOLE, 0, size, ""))

    def _opened(self, project: bool) -> _Open:
        block = self._open[project] = _Open(len(self._blocks))
        self._blocks.append(UNSEALED)
        return block

    def _end_file(self) -> None:
        """The file that came last has all its pieces now, and the size that they have together."""
        entries = self._entries.get(self._tree)
        if not entries:
            return
        last = entries[-1]
        if self._pieces:
            size = sum(piece.size for piece in self._pieces)
            entries[-1] = last = Entry(replace(last.node, size=size), tuple(self._pieces))
            self._pieces.clear()
        elif not last.pieces and last.node.size:
            entries[-1] = last = Entry(replace(last.node, size=0))
        self.bytes_total += last.node.size

    def _remember(self, tree: str, entry: Entry, unusable: Set[int]) -> None:
        lost = any(piece.block != HOLE and self._layer_of(piece) in unusable for piece in entry.pieces)
        if entry.node.kind != "file" or lost:
            return
        self._before[tree, entry.node.path] = entry
        project = is_project(tree, entry.node.path)
        for piece in entry.pieces:
            if piece.block != HOLE:
                self._known.setdefault((project, piece.digest), piece)

    def _layer_of(self, piece: Piece) -> int:
        return self._blocks[piece.block].layer
