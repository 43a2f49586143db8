"""A bounded memory of what was decoded lately, so that reading a long task again costs nothing."""

from collections import OrderedDict
from typing import Generic, TypeVar

from contracts.blobs import BlobRef

T = TypeVar("T")


class Recent(Generic[T]):
    """Keeps decoded blobs up to a total plain size; the least recently used goes first. Values must be immutable."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._held_bytes = 0
        self._held: OrderedDict[BlobRef, T] = OrderedDict()

    def get(self, ref: BlobRef) -> T | None:
        if ref not in self._held:
            return None
        self._held.move_to_end(ref)
        return self._held[ref]

    def keep(self, ref: BlobRef, decoded: T) -> None:
        if ref in self._held or ref.size > self._max_bytes:
            return
        self._held[ref] = decoded
        self._held_bytes += ref.size
        while self._held_bytes > self._max_bytes:
            oldest, _ = self._held.popitem(last=False)
            self._held_bytes -= oldest.size
