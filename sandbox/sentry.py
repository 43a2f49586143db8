"""The process that is a running gVisor sandbox, as root sees it on the engine's own machine, past the engine."""

import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SAVE_SECONDS = 600
OWN_FILES = "/memfd:"
MEMORY = "/memfd:runsc-memory"
DELETED = " (deleted)"
INSIDE = "/root"
"""Where gVisor puts what the sandbox sees."""


class NotWritten(Exception):
    """Raised when gVisor did not write the memory; the text is what it said."""


@dataclass(frozen=True)
class Sentry:
    """One running sandbox."""

    pid: int
    container: str
    """The engine's full id."""
    records: str
    """Where `runsc` keeps what it knows of its containers."""

    def deleted(self) -> str | None:
        """A file of the lasting folders that programs still use although it is deleted, or None.

        gVisor cannot write such a one down, and ends the sandbox when it tries.
        """
        for _, place in self._open_files():
            if place.endswith(DELETED) and not place.startswith(OWN_FILES):
                return place.removeprefix(INSIDE).removesuffix(DELETED)
        return None

    def memory_bytes(self) -> int:
        """What `save` will write, about."""
        return sum(link.stat().st_blocks * 512 for link, place in self._open_files() if place.startswith(MEMORY))

    def save(self, into: Path) -> None:
        """Write its memory into an empty folder; it ends by that, written or not. Raises: NotWritten."""
        into.chmod(0o700)
        command = ["runsc", "--root", self.records, "checkpoint", "--compression=none", "--image-path", str(into)]
        try:
            # The very program that runs it, even if a newer one was installed meanwhile.
            done = subprocess.run(  # noqa: S603  every word is ours
                [*command, self.container],
                executable=f"/proc/{self.pid}/exe",
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=SAVE_SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise NotWritten(str(error)) from error
        if done.returncode != 0:
            raise NotWritten(done.stderr.decode(errors="replace"))

    def _open_files(self) -> Iterator[tuple[Path, str]]:
        for link in Path(f"/proc/{self.pid}/fd").iterdir():
            try:
                yield link, str(link.readlink())
            except FileNotFoundError:  # closed since it was listed
                continue


def sentry(container: str, pid: int) -> Sentry | None:
    """None where it cannot be reached: this process is not root, the engine is elsewhere, or it is not gVisor's."""
    if os.geteuid() != 0:
        return None
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return None
    records = [word.removeprefix("--root=") for word in words if word.startswith("--root=")]
    if not records or "boot" not in words or container not in words:
        return None
    return Sentry(pid=pid, container=container, records=records[0])
