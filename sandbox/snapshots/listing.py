"""What a snapshot consists of: a small manifest that names it, and the long listing of its nodes."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any, Literal, NamedTuple

from contracts.sandbox import Snapshot, SnapshotKind
from contracts.values import Value
from sandbox.snapshots.tree import Node

HOLE = -1


class Piece(NamedTuple):
    """A part of a file's content: where it lies in a block, or a hole."""

    block: int
    """Number of the block in the listing, or HOLE."""
    offset: int
    size: int
    digest: str
    """Keyed, in hex; empty for a hole."""


class Block(NamedTuple):
    """Pieces that were compressed and sealed together."""

    layer: int
    """Number of the layer in the listing."""
    offset: int
    length: int
    size: int
    """Bytes when opened."""
    digest: str
    """Keyed, of the opened bytes, in hex; it is where alone the box opens."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A node with its content."""

    node: Node
    pieces: tuple[Piece, ...] = ()


@dataclass(frozen=True)
class Listing:
    """Every node of every tree, and where their content lies."""

    trees: Mapping[str, tuple[Entry, ...]]
    blocks: tuple[Block, ...]
    layers: tuple[str, ...]
    """Names of the objects, each the SHA-256 of its sealed bytes."""

    def to_bytes(self) -> bytes:
        """Canonical. Names that are no UTF-8 hold lone surrogates, so everything beyond ASCII is escaped."""
        rows = {name: [_row(entry) for entry in entries] for name, entries in self.trees.items()}
        whole = {"trees": rows, "blocks": self.blocks, "layers": self.layers}
        return json.dumps(whole, ensure_ascii=True, separators=(",", ":"), sort_keys=True).encode("ascii")

    @classmethod
    def from_bytes(cls, text: bytes) -> "Listing":
        """Of text that was authenticated."""
        whole = json.loads(text)
        return cls(
            trees={name: tuple(_entry(row) for row in rows) for name, rows in whole["trees"].items()},
            blocks=tuple(Block(*row) for row in whole["blocks"]),
            layers=tuple(whole["layers"]),
        )

    def only(self, trees: Mapping[str, tuple[Entry, ...]]) -> "Listing":
        """Of these trees, whose pieces lie in blocks of this listing; with no block or layer that they do not need."""
        used = sorted({piece.block for piece in pieces_of(trees) if piece.block != HOLE})
        layers = sorted({self.blocks[number].layer for number in used})
        block_now = {HOLE: HOLE, **{old: new for new, old in enumerate(used)}}
        layer_now = {old: new for new, old in enumerate(layers)}
        return Listing(
            trees={name: tuple(_renumbered(entry, block_now) for entry in entries) for name, entries in trees.items()},
            blocks=tuple(self.blocks[old]._replace(layer=layer_now[self.blocks[old].layer]) for old in used),
            layers=tuple(self.layers[old] for old in layers),
        )


class Manifest(Value):
    """What the digest of a snapshot covers: all that is known of it, and by digests all that belongs to it."""

    format: Literal[1]
    kind: SnapshotKind
    owner: str
    name: str
    parent: str | None
    created_at: datetime
    files: int
    bytes_total: int
    bytes_added: int
    driver: str
    runtime: str
    image: str
    listing: str
    """Name of the object with the sealed listing: the SHA-256 of its bytes."""
    layers: tuple[str, ...]
    """Names of all layers that the listing leads to; the same as there, so that collecting need not read listings."""

    def to_bytes(self) -> bytes:
        """Canonical. Fields that come later have defaults and are left out with them, so that digests stay."""
        told = self.model_dump(mode="json", exclude_defaults=True)
        return json.dumps(told, separators=(",", ":"), sort_keys=True).encode()

    @property
    def digest(self) -> str:
        return sha256(self.to_bytes()).hexdigest()

    def snapshot(self) -> Snapshot:
        return Snapshot(digest=self.digest, **self.model_dump(exclude={"format", "listing", "layers"}))


def pieces_of(trees: Mapping[str, Iterable[Entry]]) -> Iterable[Piece]:
    return (piece for entries in trees.values() for entry in entries for piece in entry.pieces)


def _renumbered(entry: Entry, now: Mapping[int, int]) -> Entry:
    return Entry(entry.node, tuple(piece._replace(block=now[piece.block]) for piece in entry.pieces))


def _row(entry: Entry) -> list[Any]:
    node = entry.node
    return [node.kind, node.path, node.mode, node.size, node.mtime_ns, node.stamp, node.target, entry.pieces]


def _entry(row: list[Any]) -> Entry:
    kind, path, mode, size, mtime_ns, stamp, target, pieces = row
    return Entry(Node(path, kind, mode, size, mtime_ns, stamp, target), tuple(Piece(*piece) for piece in pieces))
