"""Replace a small file so that after a crash it is either the old one or the whole new one."""

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
