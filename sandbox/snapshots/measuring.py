"""How much a folder takes on disk, however deep untrusted code has nested it."""

import os
import stat
import subprocess
from contextlib import closing, suppress
from pathlib import Path

from sandbox.snapshots.descending import FOLDER, Descent, opened

MOST_SECONDS = 60.0
DENIED = b"Permission denied"
MOST_DEPTH = 200


def taken_on_disk(root: Path) -> int:
    """Bytes of all that lies in it without holes, each file counted once however many names it has. Raises: OSError."""
    command = ["du", "--summarize", "--block-size=1", "--one-file-system", "--", str(root)]
    try:
        done = subprocess.run(  # noqa: S603  every word is ours
            command, capture_output=True, check=False, timeout=MOST_SECONDS, env={"PATH": os.defpath, "LC_ALL": "C"}
        )
    except subprocess.TimeoutExpired as error:
        raise OSError(f"{root} could not be measured within {MOST_SECONDS:.0f} s") from error
    total = done.stdout.partition(b"\t")[0]
    # What went meanwhile is an error for du as well, and none for us.
    return int(total) if total.isdigit() and DENIED not in done.stderr else _counted(root)


def _counted(root: Path) -> int:
    """The same for a user who is not root, where something was closed to hide it."""
    total = 0
    counted: set[tuple[int, int]] = set()
    with opened(os.open(root, FOLDER)) as top, closing(Descent(top)) as descent:
        waiting = [""]
        while waiting:
            path = waiting.pop()
            if path.count("/") >= MOST_DEPTH:
                raise OSError(f"{path[:200]!r} lies deeper than {MOST_DEPTH} folders")
            with suppress(FileNotFoundError, NotADirectoryError), descent.folder(path) as folder:
                for name in os.listdir(folder):  # noqa: PTH208  a descriptor
                    with suppress(FileNotFoundError):
                        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
                        if stat.S_ISDIR(found.st_mode):
                            waiting.append(f"{path}/{name}" if path else name)
                        if (found.st_dev, found.st_ino) not in counted:
                            total += found.st_blocks * 512
                        if found.st_nlink > 1:
                            counted.add((found.st_dev, found.st_ino))
    return total
