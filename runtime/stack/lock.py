"""One stack for each data folder: a lock that the kernel takes back when its holder dies."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pydantic import ValidationError

from runtime.paths import FILE_MODE
from runtime.stack.state import ProcessMark

POLL_SECONDS = 0.05


class LockHeld(Exception):
    """Raised when another process holds the lock for longer than was to be waited."""


@contextmanager
def held_lock(path: Path, patience_seconds: float = 0.0) -> Iterator[None]:
    """Hold the lock while the block runs, and remove its file at the end. Raises: LockHeld."""
    handle = _acquired(path, time.monotonic() + patience_seconds)
    try:
        os.pwrite(handle, ProcessMark.own().model_dump_json().encode(), 0)
        yield
    finally:
        # While it is still held: whoever waits for this file then sees that it is no longer the one at the path.
        path.unlink(missing_ok=True)
        os.close(handle)


def lock_holder(path: Path) -> ProcessMark | None:
    """The living process that holds the lock, or None."""
    try:
        mark = ProcessMark.model_validate_json(path.read_bytes())
    except (FileNotFoundError, ValidationError):
        return None
    return mark if mark.process() is not None else None


def _acquired(path: Path, until: float) -> int:
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, FILE_MODE)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(handle)
            if time.monotonic() >= until:
                raise LockHeld(f"{path} is held by another process") from None
            time.sleep(POLL_SECONDS)
            continue
        if _is_still_at(path, handle):
            os.ftruncate(handle, 0)
            return handle
        os.close(handle)


def _is_still_at(path: Path, handle: int) -> bool:
    try:
        there = path.stat()
    except FileNotFoundError:
        return False
    return there.st_ino == os.fstat(handle).st_ino
