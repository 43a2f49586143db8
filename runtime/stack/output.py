"""What the parts write to standard output and error: one file a part, kept small, its last lines shown on a failure."""

import shutil
from pathlib import Path

TAIL_BYTES = 65_536
TAIL_LINES = 12
FILE_BYTES = 10 * 1024 * 1024


def output_of(logs: Path, name: str) -> Path:
    """The file of one part."""
    return logs / f"{name}.out"


def last_lines(path: Path, since: int = 0) -> tuple[str, ...]:
    """The last lines written after the first `since` bytes."""
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            file.seek(max(since if since <= size else 0, size - TAIL_BYTES))
            text = file.read(TAIL_BYTES).decode("utf-8", "replace")
    except FileNotFoundError:
        return ()
    return tuple(line for line in text.splitlines() if line.strip())[-TAIL_LINES:]


def keep_small(path: Path) -> None:
    """Move what a part wrote so far to `<name>.1` when it is too much; the part goes on, it only ever appends."""
    if path.exists() and path.stat().st_size > FILE_BYTES:
        shutil.copyfile(path, path.with_name(f"{path.name}.1"))
        path.with_name(f"{path.name}.1").chmod(0o600)
        with path.open("r+b") as file:
            file.truncate()
