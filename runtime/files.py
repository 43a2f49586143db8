"""Write a file so that after a crash it is either the old one or the whole new one, readable by its owner only."""

import os
import secrets
from pathlib import Path

from runtime.paths import FILE_MODE


def write_atomically(path: Path, content: bytes) -> None:
    """Replace `path` in one step, on disk when this returns."""
    temporary = _written_beside(path, content)
    try:
        temporary.replace(path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def create_atomically(path: Path, content: bytes) -> bool:
    """Make `path` whole in one step; False if somebody else made it before."""
    temporary = _written_beside(path, content)
    try:
        path.hardlink_to(temporary)
    except FileExistsError:
        return False
    finally:
        temporary.unlink()
    sync_folder(path.parent)
    return True


def sync_folder(folder: Path) -> None:
    """Put the names in a folder on disk; without it a new file may be gone after a power cut."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _written_beside(path: Path, content: bytes) -> Path:
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.part")
    try:
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, FILE_MODE)
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
    return temporary
