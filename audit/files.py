"""Write a small file so that after a crash it is either the old one or the whole new one."""

import os
import secrets
from pathlib import Path


def replace_file(path: Path, content: bytes) -> None:
    """On disk when this returns, readable by its owner only. After a power cut the name may still give the old one."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.part")
    try:
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise


def overwrite_file(path: Path, content: bytes, *, sync: bool) -> None:
    """Put content of the same length, at most one sector, where it was: a disk writes that whole or not at all.

    Much quicker than a new file and a new name. Without `sync` a power cut may bring the old content back.
    """
    handle = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.pwrite(handle, content, 0)
        if sync:
            os.fdatasync(handle)
    finally:
        os.close(handle)
