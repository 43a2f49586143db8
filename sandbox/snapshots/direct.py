"""Large writes straight to the disk: what is written once and not read soon needs no memory of the machine."""

import fcntl
import mmap
import os

PIECE_BYTES = 1024 * 1024
"""A multiple of every disk's block."""


def past_the_cache(descriptor: int, content: bytes) -> int:
    """Write the whole pieces of the content, and give how many bytes that was; none where the file system cannot.

    Raises: OSError."""
    whole = len(content) - len(content) % PIECE_BYTES
    flags = fcntl.fcntl(descriptor, fcntl.F_GETFL)
    if not whole or not _switched(descriptor, flags | os.O_DIRECT):
        return 0
    written = 0
    try:
        with mmap.mmap(-1, PIECE_BYTES) as aligned, memoryview(content) as view:
            while written < whole:
                aligned[:] = view[written : written + PIECE_BYTES]
                if os.write(descriptor, aligned) < PIECE_BYTES:
                    break
                written += PIECE_BYTES
    except OSError:
        pass  # if it is no whim of this way of writing, the ordinary one meets it again and says it
    finally:
        _switched(descriptor, flags)
    os.lseek(descriptor, written, os.SEEK_SET)
    return written


def _switched(descriptor: int, flags: int) -> bool:
    try:
        fcntl.fcntl(descriptor, fcntl.F_SETFL, flags)
    except OSError:
        return False
    return True
