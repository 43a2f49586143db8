"""Which calls were made: one file each, created once for ever, in the home folder that snapshots keep."""

from __future__ import annotations

import os

from sandbox.inside.capture import SHOWN
from sandbox.inside.words import said

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from sandbox.inside.words import Plain

CALLS = "/home/agent/.asos/calls"
LARGEST = 8 * SHOWN
STREAMS = ("stdout", "stderr")


class Record:
    """The file of one call; the first to create it may run it."""

    def __init__(self, key: str) -> None:
        self._path = f"{CALLS}/{key}.started"
        self._file = -1

    def claim(self) -> bool:
        """False if somebody was first. Raises: OSError."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        try:
            self._file = os.open(self._path, flags, 0o600)
        except FileExistsError:
            return False
        except FileNotFoundError:
            os.makedirs(CALLS, 0o700, exist_ok=True)
            self._file = os.open(self._path, flags, 0o600)
        return True

    def finish(self, meta: Mapping[str, Plain], shown: bytes) -> None:
        """Say how it ended. A full disk loses that: then it counts as one whose end nobody knows."""
        if self._file < 0:
            return
        try:
            write_all(self._file, said(meta).encode("ascii") + b"\n" + shown)
        except OSError:
            pass
        finally:
            os.close(self._file)
            self._file = -1

    def read(self) -> tuple[bytes, bytes] | None:
        """How it ended, as it was said, and what is shown of its output."""
        meta, newline, shown = read_some(self._path).partition(b"\n")
        return (meta, shown) if newline else None


def write_all(descriptor: int, content: bytes) -> None:
    """Raises: OSError."""
    view = memoryview(content)
    while view:
        view = view[os.write(descriptor, view) :]


def read_some(path: str) -> bytes:
    """The beginning of a small file, empty if there is none."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return b""
    try:
        return os.read(file, LARGEST)
    except OSError:
        return b""
    finally:
        os.close(file)
