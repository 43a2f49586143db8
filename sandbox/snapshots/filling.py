"""Make the nodes of a tree below a folder, through descriptors, as somebody else's files."""

import os
import secrets
import stat
import time
from collections.abc import Sequence
from contextlib import closing, suppress

from sandbox.snapshots.descending import Descent, make_movable, opened
from sandbox.snapshots.tree import Node, Part, TreeUnfilled

MAKE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
EMPTY_SECONDS = 120.0
"""How long emptying goes on while somebody makes new names in the folder."""


def checked(path: str) -> str:
    """Raises: TreeUnfilled for a path that might lead elsewhere."""
    parts = path.split("/")
    if "\0" in path or any(part in ("", ".", "..") for part in parts):
        raise TreeUnfilled(f"{path!r} is no path below a tree")
    return path


def empty(top: int) -> None:
    """Remove everything in the open folder `top`. Folders are lifted up before they are emptied, so that it does not
    matter how deep they lie. Raises: OSError."""
    until = time.monotonic() + EMPTY_SECONDS
    while names := os.listdir(top):
        for name in names:
            _removed(top, name)
        if time.monotonic() > until:
            raise TreeUnfilled("the folder does not become empty: something writes into it all the time")


def _removed(top: int, name: str) -> None:
    with suppress(FileNotFoundError):
        if not stat.S_ISDIR(os.stat(name, dir_fd=top, follow_symlinks=False).st_mode):
            os.unlink(name, dir_fd=top)
            return
        _lift(top, name)
        with suppress(OSError):  # somebody wrote into it at this moment: the next pass sees it again
            os.rmdir(name, dir_fd=top)


def _lift(top: int, name: str) -> None:
    """Empty the folder `name`: its files go, its folders become names of `top`."""
    with closing(Descent(top)) as descent, descent.folder(name) as folder:
        os.fchmod(folder, stat.S_IRWXU)
        for inner in os.listdir(folder):  # noqa: PTH208  a descriptor
            with suppress(FileNotFoundError):
                if stat.S_ISDIR(os.stat(inner, dir_fd=folder, follow_symlinks=False).st_mode):
                    make_movable(folder, inner)
                    os.rename(inner, f".emptied-{secrets.token_hex(8)}", src_dir_fd=folder, dst_dir_fd=top)
                else:
                    os.unlink(inner, dir_fd=folder)


class Filler:
    """Takes the parts of a tree in their order. Used by one thread at a time, and closed at the end."""

    def __init__(self, top: int, uid: int | None) -> None:
        self._descent = Descent(top)
        self._uid = uid
        self._folders: list[Node] = []
        self._parent: tuple[str, int] | None = None
        self._file: tuple[Node, int] | None = None
        self._place = 0

    def take(self, parts: Sequence[Part]) -> None:
        """Raises: TreeUnfilled, OSError."""
        for part in parts:
            if part.node is not None:
                self._finish_file()
                self._begin(part.node)
            if part.content or part.hole:
                self._write(part)

    def finish(self) -> None:
        """Folders get their modes and times last, the deepest first: they may close themselves to us."""
        self._finish_file()
        self._leave()
        for node in reversed(self._folders):
            with self._descent.folder(node.path) as folder:
                os.fchmod(folder, node.mode)
                os.utime(folder, ns=(node.mtime_ns, node.mtime_ns))

    def close(self) -> None:
        self._leave()
        self._descent.close()
        if self._file is not None:
            os.close(self._file[1])
            self._file = None

    def _begin(self, node: Node) -> None:
        above, name = self._place_of(node)
        try:
            if node.kind == "folder":
                os.mkdir(name, stat.S_IRWXU, dir_fd=above)
                self._own(name, above)
                self._folders.append(node)
            elif node.kind == "link":
                os.symlink(node.target, name, dir_fd=above)
                self._own(name, above)
                os.utime(name, ns=(node.mtime_ns, node.mtime_ns), dir_fd=above, follow_symlinks=False)
            elif node.kind == "twin":
                self._link(node, name, above)
            else:
                self._file = node, os.open(name, MAKE, 0o600, dir_fd=above)
                self._place = 0
        except FileExistsError as error:
            raise TreeUnfilled(f"{node.path!r} is there already") from error

    def _link(self, node: Node, name: str, above: int) -> None:
        folder, _, first = checked(node.target).rpartition("/")
        with self._descent.folder(folder) as source:
            os.link(first, name, src_dir_fd=source, dst_dir_fd=above, follow_symlinks=False)

    def _write(self, part: Part) -> None:
        if self._file is None:
            raise TreeUnfilled("there is content that belongs to no file")
        rest = memoryview(part.content)
        while rest:
            written = os.pwrite(self._file[1], rest, self._place)
            self._place += written
            rest = rest[written:]
        self._place += part.hole

    def _finish_file(self) -> None:
        if self._file is None:
            return
        node, descriptor = self._file
        self._file = None
        with opened(descriptor):
            os.ftruncate(descriptor, self._place)
            if self._uid is not None:
                os.fchown(descriptor, self._uid, self._uid)
            os.fchmod(descriptor, node.mode)
            os.utime(descriptor, ns=(node.mtime_ns, node.mtime_ns))

    def _own(self, name: str, above: int) -> None:
        if self._uid is not None:
            os.chown(name, self._uid, self._uid, dir_fd=above, follow_symlinks=False)

    def _place_of(self, node: Node) -> tuple[int, str]:
        """The open folder above a node, and its own name in it."""
        folder, _, name = checked(node.path).rpartition("/")
        if self._parent is None or self._parent[0] != folder:
            self._leave()
            self._parent = folder, self._opened(folder)
        return self._parent[1], name

    def _leave(self) -> None:
        if self._parent is not None:
            os.close(self._parent[1])
            self._parent = None

    def _opened(self, path: str) -> int:
        with self._descent.folder(path) as folder:
            return os.dup(folder)
