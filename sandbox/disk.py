"""How much disk the files of a sandbox take, counted from outside: no quota of the file system is needed for it."""

import os
import stat
import subprocess
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from contracts.sandbox import Command, CommandOutcome

BLOCK_BYTES = 512
LEAST_BYTES = 4_096
"""An empty file takes no block, but there is an end to their number too."""
COUNT_SECONDS = 120.0

MEASURE = ("du", "-s", "-x", "-c", "--block-size=1")
INSIDE = Command(argv=(*MEASURE, "/home/agent", "/workspace"), timeout_seconds=COUNT_SECONDS)
"""For an engine whose files cannot be seen from here."""


def used_bytes(folders: Sequence[Path], processes: Iterable[int] = ()) -> int | None:
    """What lies in these folders, and what the processes hold open there although its name is gone; None where this
    process may not look."""
    devices = set()
    for folder in folders:
        try:
            devices.add(folder.stat().st_dev)
        except OSError:
            return None
    size, names = _du(folders), _du(folders, "--inodes")
    if size is None or names is None:
        return None
    return max(size, names * LEAST_BYTES) + _unlinked(processes, devices)


def total_of(outcome: CommandOutcome) -> int | None:
    """What `INSIDE` gave."""
    return _total(outcome.stdout.head)


def _du(folders: Sequence[Path], *options: str) -> int | None:
    """`du` knows hard links and endless depth, and does not hold this process up."""
    command = [*MEASURE, *options, "--", *map(str, folders)]
    try:
        done = subprocess.run(command, capture_output=True, timeout=COUNT_SECONDS, check=False)  # noqa: S603  every word is ours
    except (OSError, subprocess.TimeoutExpired):
        return None
    return _total(done.stdout)


def _total(text: bytes) -> int | None:
    """The exit code says nothing: files come and go meanwhile."""
    words = text.splitlines()[-1].split() if text.strip() else []
    return int(words[0]) if words[1:] == [b"total"] and words[0].isdigit() else None


def _unlinked(processes: Iterable[int], devices: set[int]) -> int:
    found: dict[tuple[int, int], int] = {}
    for pid in processes:
        with suppress(OSError), os.scandir(f"/proc/{pid}/fd") as entries:
            for entry in entries:
                with suppress(OSError):
                    status = entry.stat()
                    if stat.S_ISREG(status.st_mode) and not status.st_nlink and status.st_dev in devices:
                        found[status.st_dev, status.st_ino] = status.st_blocks * BLOCK_BYTES
    return sum(found.values())
