"""Where a path leads, kept to the folders that are the sandbox's own, whatever its links say."""

from __future__ import annotations

import errno
import os
import posixpath
import stat

WORKSPACE = b"/workspace"
LASTING = (WORKSPACE, b"/home/agent")
"""Folders that outlive the sandbox's processes: the host may be able to reach them."""
ROOTS = (*LASTING, b"/tmp")
KINDS = {stat.S_IFREG: "file", stat.S_IFDIR: "folder", stat.S_IFLNK: "link"}
FOLDER = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW


class Refused(Exception):
    """Raised when a path may not be used as asked; the text is for the person who asked."""


class Place:
    """An open folder, and a name in it that need not exist. Whoever gets it closes it."""

    def __init__(self, folder: int, root: bytes, below: list[bytes], shown: str) -> None:
        self.folder = folder
        self.root = root
        self.below = below
        """The names that lead to it from the root, none of them a link when it was looked at."""
        self.name = below[-1] if below else b"."
        self.shown = shown
        """The path as it was asked for."""

    def close(self) -> None:
        os.close(self.folder)

    def facts(self) -> os.stat_result | None:
        """Of the name itself, not of what it links to."""
        try:
            return os.stat(self.name, dir_fd=self.folder, follow_symlinks=False)
        except FileNotFoundError:
            return None


def located(path: bytes, make: bool = False) -> Place:
    """The folder is reached step by step without following a link, so that none can be put in the way meanwhile.

    Raises: Refused, OSError.
    """
    shown = _shown(path)
    if not path or b"\0" in path:
        raise Refused(f"not a path: {shown}")
    root, below = _within(path, shown)
    names = [name for name in below.split(b"/") if name]
    folder = os.open(root, FOLDER)
    try:
        for name in names[:-1]:
            folder = _entered(folder, name, make)
    except BaseException:
        os.close(folder)
        raise
    return Place(folder, root, names, shown)


def opened(place: Place) -> tuple[int, os.stat_result]:
    """A plain file, for reading. Raises: Refused, OSError."""
    # Not to wait: it may be a fifo.
    file = os.open(place.name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=place.folder)
    try:
        facts = os.fstat(file)
        require_plain(place.shown, facts)
    except BaseException:
        os.close(file)
        raise
    return file, facts


def entered(place: Place) -> int:
    """A folder, to look through. Raises: OSError."""
    # In two steps: gVisor follows a link where a folder is opened for reading, but not where it is only found.
    found = os.open(place.name, FOLDER, dir_fd=place.folder)
    try:
        return os.open(b".", os.O_RDONLY | os.O_DIRECTORY, dir_fd=found)
    finally:
        os.close(found)


def require_plain(shown: str, facts: os.stat_result) -> None:
    """Raises: Refused."""
    kind = kind_of(facts)
    if kind != "file":
        raise Refused(f"{shown} is not a plain file but a {kind if kind != 'other' else 'device, socket or fifo'}")
    if facts.st_nlink > 1 and facts.st_uid != os.geteuid():
        raise Refused(f"{shown} is another name of a file that is not the sandbox's")


def kind_of(facts: os.stat_result) -> str:
    return KINDS.get(stat.S_IFMT(facts.st_mode), "other")


def complaint(shown: str, error: OSError) -> str:
    """What the system said, in words for a person."""
    if error.errno in (errno.ENOENT, errno.ENOTDIR):
        return f"{shown} does not exist"
    if error.errno == errno.ELOOP:
        return f"{shown} is a link that leads nowhere"
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"{shown} does not fit: the sandbox's disk is full"
    return f"{shown}: {os.strerror(error.errno or 0)}"


def _within(path: bytes, shown: str) -> tuple[bytes, bytes]:
    """The root that the path leads into, links followed, and the rest."""
    whole = os.path.realpath(posixpath.normpath(posixpath.join(WORKSPACE, path)))
    for root in ROOTS:
        if whole == root or whole.startswith(root + b"/"):
            return root, whole[len(root) :]
    roots = b", ".join(ROOTS).decode()
    raise Refused(f"{shown} is outside the folders {roots}")


def _entered(folder: int, name: bytes, make: bool) -> int:
    """The folder below; the one above is closed."""
    try:
        below = os.open(name, FOLDER, dir_fd=folder)
    except FileNotFoundError:
        if not make:
            raise
        os.mkdir(name, 0o755, dir_fd=folder)
        below = os.open(name, FOLDER, dir_fd=folder)
    os.close(folder)
    return below


def _shown(path: bytes) -> str:
    return repr(path.decode("utf-8", "replace"))
