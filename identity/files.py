"""Files that only their owner may read, and that are replaced whole or not at all."""

import os
import secrets
import stat
from pathlib import Path


def replace_file(path: Path, content: bytes | bytearray) -> None:
    """On disk when this returns; if it raises OSError, the old file is as it was."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.part")
    try:
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
        _sync_folder(path.parent)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise


def is_private(path: Path) -> bool:
    """Whether it is this user's own file, and closed to all others. Raises: OSError."""
    found = path.lstat()
    return stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & 0o077


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
