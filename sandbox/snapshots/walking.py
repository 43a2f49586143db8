"""Read everything below a folder, in one pass, whatever untrusted code has made of it or makes of it meanwhile."""

import errno
import os
import stat
import time
from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from sandbox.snapshots.descending import FOLDER, Descent, open_file, opened
from sandbox.snapshots.tree import PIECE_BYTES, Node, NodeKind, Part, TreeUnreadable, Wanted

PERMISSIONS = 0o777
STEADY_NS = 60 * 1_000_000_000
"""A page that a program has mapped may be written for half a minute after the last change of its file's ctime, until
the kernel writes it back. A younger ctime proves nothing."""


@dataclass(frozen=True)
class Bounds:
    """What a tree may hold before a snapshot refuses it."""

    names: int = 1_000_000
    path_bytes: int = 4_096
    file_bytes: int = 1024**4
    """Size as it is told, holes included."""
    read_bytes: int = 256 * 1024**3
    """Of all files together, without their holes."""


@dataclass
class _Walk:
    bounds: Bounds
    wanted: Wanted
    seen: int = 0
    read: int = 0
    twins: dict[tuple[int, int], str] = field(default_factory=dict)
    """Files with several names, by the name that came first."""


def walk(root: Path, wanted: Wanted, bounds: Bounds) -> Generator[Part, None, None]:
    """Raises: TreeUnreadable, OSError."""
    state = _Walk(bounds, wanted)
    with opened(os.open(root, FOLDER)) as top, closing(Descent(top)) as descent:
        waiting = [""]
        while waiting:
            path = waiting.pop()
            below: list[str] = []
            try:
                with descent.folder(path) as folder:
                    yield from _inside(state, folder, path, below)
            except (FileNotFoundError, NotADirectoryError) as error:
                if not path:
                    raise TreeUnreadable(f"{root} is gone") from error
            waiting += reversed(below)


def _inside(state: _Walk, folder: int, path: str, below: list[str]) -> Iterator[Part]:
    for name in _names(state, folder, path):
        place = f"{path}/{name}" if path else name
        if len(os.fsencode(place)) > state.bounds.path_bytes:
            raise TreeUnreadable(f"{place[:200]!r}… lies deeper than {state.bounds.path_bytes} bytes of path")
        try:
            found = os.stat(name, dir_fd=folder, follow_symlinks=False)
            if stat.S_ISDIR(found.st_mode):
                yield Part(_node(place, "folder", found))
                below.append(place)
            elif stat.S_ISLNK(found.st_mode):
                target = os.readlink(name, dir_fd=folder)
                yield Part(_node(place, "link", found, target=target))
            elif stat.S_ISREG(found.st_mode):
                yield from _file(state, folder, name, place, found)
        except FileNotFoundError:
            continue  # it went while the tree was read, or became something else
        except OSError as error:
            if error.errno == errno.EINVAL:  # no link any more
                continue
            raise TreeUnreadable(f"{place!r} cannot be read: {error.strerror}") from error


def _names(state: _Walk, folder: int, path: str) -> list[str]:
    names = []
    with os.scandir(folder) as entries:
        for entry in entries:
            names.append(entry.name)
            state.seen += 1
            if state.seen > state.bounds.names:
                raise TreeUnreadable(f"there are more than {state.bounds.names} names, the last of them in {path!r}")
    return sorted(names)


def _file(state: _Walk, folder: int, name: str, path: str, found: os.stat_result) -> Iterator[Part]:
    if found.st_nlink > 1:
        first = state.twins.setdefault((found.st_dev, found.st_ino), path)
        if first != path:
            yield Part(_node(path, "twin", found, target=first))
            return
    if found.st_size > state.bounds.file_bytes:
        raise TreeUnreadable(f"{path!r} says that it has {found.st_size} bytes; {state.bounds.file_bytes} are allowed")
    if not state.wanted(node := _node(path, "file", found)):
        yield Part(node)
        return
    with opened(open_file(folder, name)) as descriptor:
        before = os.fstat(descriptor)
        yield from _content(state, descriptor, _node(path, "file", before), before)
        after = os.fstat(descriptor)
        if (after.st_ctime_ns, after.st_size) != (before.st_ctime_ns, before.st_size):
            yield Part(changed=True)


def _content(state: _Walk, descriptor: int, node: Node, found: os.stat_result) -> Iterator[Part]:
    """The node with its first piece, and the others, each begun at a multiple of their size."""
    sparse = found.st_blocks * 512 < found.st_size
    place, first = 0, True
    while place < found.st_size or first:
        hole = _hole(descriptor, place, found.st_size) if sparse else 0
        content = b"" if hole else os.pread(descriptor, min(PIECE_BYTES, found.st_size - place), place)
        state.read += len(content)
        if state.read > state.bounds.read_bytes:
            raise TreeUnreadable(f"up to {node.path!r} there are more than {state.bounds.read_bytes} bytes")
        yield Part(node if first else None, content, hole)
        if not content and not hole:
            return
        place, first = place + len(content) + hole, False


def _hole(descriptor: int, place: int, size: int) -> int:
    """How many bytes from here to the next piece with anything in it."""
    try:
        data = os.lseek(descriptor, place, os.SEEK_DATA)
    except OSError as error:
        if error.errno != errno.ENXIO:
            raise
        return max(size - place, 0)
    return min(data - data % PIECE_BYTES, size) - place


def _node(path: str, kind: NodeKind, found: os.stat_result, target: str = "") -> Node:
    stamp = ""
    if kind == "file" and time.time_ns() - found.st_ctime_ns > STEADY_NS:
        stamp = f"{found.st_dev}:{found.st_ino}:{found.st_ctime_ns}:{found.st_mtime_ns}:{found.st_size}"
    return Node(
        path=path,
        kind=kind,
        mode=found.st_mode & PERMISSIONS,
        size=found.st_size if kind == "file" else 0,
        mtime_ns=found.st_mtime_ns,
        stamp=stamp,
        target=target,
    )
