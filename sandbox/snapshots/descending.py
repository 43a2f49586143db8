"""Into folders that untrusted code wrote: by descriptors, one name at a time, and never through a link."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
LOOK = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC
"""Opens anything without touching it: no device acts, no fifo waits."""
READ = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


class Descent:
    """The way into everything below one folder.

    The way to the last folder stays open, so that its neighbours cost one step; it is as long as the folder lies deep.
    A user who is not root may be shut out by what its owner closed to themselves; it is opened for the time of the
    descent, and closed again at its end.
    """

    def __init__(self, top: int) -> None:
        self._top = top
        self._way: list[tuple[str, int]] = []
        """The names that lead to the folder that was opened last, with their descriptors."""
        self._loosened: list[tuple[str, int]] = []

    @contextmanager
    def folder(self, path: str) -> Iterator[int]:
        """The folder at `path`, open for reading; the empty path is the top itself. Raises: OSError."""
        descriptor = self._open(path)
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    def close(self) -> None:
        """Give folders the modes that they had."""
        self._back_to(0)
        for path, mode in reversed(self._loosened):
            with suppress(OSError), opened(_looked(self._top, path)) as folder:
                os.chmod(_itself(folder), mode)  # noqa: PTH101  the path of a descriptor
        self._loosened.clear()

    def _open(self, path: str) -> int:
        names = [name for name in path.split("/") if name]
        known = [name for name, _ in self._way]
        shared = 0
        while shared < min(len(names), len(known)) and names[shared] == known[shared]:
            shared += 1
        self._back_to(shared)
        for number, name in enumerate(names[shared:], shared):
            self._way.append((name, self._entered(self._last(), name, "/".join(names[:number]))))
        return self._entered(self._last(), ".", path, FOLDER)

    def _last(self) -> int:
        return self._way[-1][1] if self._way else self._top

    def _back_to(self, length: int) -> None:
        while len(self._way) > length:
            os.close(self._way.pop()[1])

    def _entered(self, folder: int, name: str, path: str, flags: int = LOOK | os.O_DIRECTORY) -> int:
        try:
            return os.open(name, flags, dir_fd=folder)
        except PermissionError:
            mode = stat.S_IMODE(os.fstat(folder).st_mode)
            if mode & stat.S_IRWXU == stat.S_IRWXU:
                raise
            os.chmod(_itself(folder), mode | stat.S_IRWXU)  # noqa: PTH101  the path of a descriptor
            self._loosened.append((path, mode))
            return os.open(name, flags, dir_fd=folder)


@contextmanager
def opened(descriptor: int) -> Iterator[int]:
    """Closed at the end of the block."""
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def open_file(folder: int, name: str) -> int:
    """A plain file, for reading. Raises: OSError, also for what is no plain file."""
    with opened(os.open(name, LOOK, dir_fd=folder)) as seen:
        mode = os.fstat(seen).st_mode
        if not stat.S_ISREG(mode):
            raise FileNotFoundError(f"{name!r} is no plain file")
        try:
            return os.open(_itself(seen), READ)
        except PermissionError:
            os.chmod(_itself(seen), stat.S_IMODE(mode) | stat.S_IRUSR)  # noqa: PTH101  the path of a descriptor
            try:
                return os.open(_itself(seen), READ)
            finally:
                os.chmod(_itself(seen), stat.S_IMODE(mode))  # noqa: PTH101  the path of a descriptor


def make_movable(folder: int, name: str) -> None:
    """Give the owner of a folder all rights in it; without them only root may move it. Raises: OSError."""
    with opened(os.open(name, LOOK | os.O_DIRECTORY, dir_fd=folder)) as found:
        os.chmod(_itself(found), stat.S_IRWXU)  # noqa: PTH101  the path of a descriptor


def _looked(top: int, path: str) -> int:
    current = os.open(".", LOOK | os.O_DIRECTORY, dir_fd=top)
    for name in filter(None, path.split("/")):
        with opened(current):
            current = os.open(name, LOOK | os.O_DIRECTORY, dir_fd=current)
    return current


def _itself(descriptor: int) -> str:
    return f"/proc/self/fd/{descriptor}"
