"""What a store gives: one document that is replaced by compare-and-set, and boxes that are never changed."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Protocol


class Overtaken(Exception):
    """Raised when the document is no longer the one that the change was made from."""


@dataclass(frozen=True)
class Document:
    """The vault's header and sealed index as they are stored, and a number that changes with them."""

    content: bytes
    stamp: int


class Store(Protocol):
    """All raise VaultUnusable if the store cannot be used, and VaultDamaged if it makes no sense."""

    @property
    def place(self) -> str:
        """Where it is, for people."""
        ...

    async def stamp(self) -> int:
        """The number of the present document, or 0 if there is none."""
        ...

    async def document(self) -> Document | None: ...

    async def commit(self, content: bytes, after: int, boxes: Mapping[str, bytes], gone: Collection[str]) -> int:
        """Store boxes, put the document in force if `after` is the present one's stamp, remove boxes; give its stamp.

        Killed in between, the old document is in force and whole. Raises: Overtaken.
        """
        ...

    async def box(self, box_id: str) -> bytes | None: ...

    async def box_ids(self) -> set[str]: ...

    async def erase_traces(self) -> None:
        """Overwrite what the medium may still hold of removed boxes and former documents, as far as it lets."""
        ...

    async def close(self) -> None: ...
