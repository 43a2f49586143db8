"""What a command writes: its beginning and its end in memory, and all up to a limit in a file once it is long."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

SHOWN = 16_384
"""Length of head and of tail."""
FLAGS = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC


class Capture:
    """One output stream."""

    def __init__(self, path: str, limit: int) -> None:
        self.path = path
        self.head = b""
        self._tail = bytearray()
        self.total = 0
        self.kept = 0
        """How much of it lies in the file."""
        self.trouble = 0
        """Number of the error that ended the keeping, such as that of a full disk."""
        self._limit = limit
        self._file = -1

    @property
    def tail(self) -> bytes:
        return bytes(self._tail[-SHOWN:])

    @property
    def is_long(self) -> bool:
        """True if head and tail are not all of it."""
        return self.total > 2 * SHOWN

    def add(self, piece: bytes) -> None:
        if self.total + len(piece) > 2 * SHOWN:
            self.spool()
        if self._file >= 0:
            self._keep(piece)
        self.total += len(piece)
        missing = SHOWN - len(self.head)
        if missing > 0:
            self.head += piece[:missing]
            piece = piece[missing:]
        self._tail += piece[-SHOWN:]
        if len(self._tail) > 8 * SHOWN:
            del self._tail[:-SHOWN]

    def spool(self) -> None:
        """Put it into a file from now on, with what came so far, so that it outlives this process."""
        if self._file >= 0 or self.trouble:
            return
        try:
            os.makedirs(os.path.dirname(self.path), 0o700, exist_ok=True)
            self._file = os.open(self.path, FLAGS, 0o644)
        except OSError as error:
            self.trouble = error.errno or 1
            return
        self._keep(self.head + self.tail)

    def close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _keep(self, piece: bytes) -> None:
        piece = piece[: self._limit - self.kept]
        try:
            while piece and not self.trouble:
                written = os.write(self._file, piece)
                self.kept += written
                piece = piece[written:]
        except OSError as error:
            self.trouble = error.errno or 1


def pump(descriptor: int, add: Callable[[bytes], None], most: int = 1_048_576) -> bool:
    """Take what a pipe holds; True at its end."""
    while most > 0:
        try:
            piece = os.read(descriptor, 65_536)
        except BlockingIOError:
            return False
        except OSError:
            return True
        if not piece:
            return True
        add(piece)
        most -= len(piece)
    return False
