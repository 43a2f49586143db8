"""One lasting folder of a sandbox, as a snapshot reads and fills it. What is in it was written by untrusted code."""

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

PIECE_BYTES = 1024 * 1024
"""Content comes in pieces of this size, counted from the file's beginning; the last one may be shorter."""


class TreeUnreadable(Exception):
    """Raised when a tree cannot be read as a whole, such as for a file without end; the text names the file."""


class TreeUnfilled(Exception):
    """Raised when nodes cannot be put in place, such as for a name that leads out of the tree; the text names it."""


NodeKind = Literal["file", "folder", "link", "twin"]


@dataclass(frozen=True, slots=True)
class Node:
    """One name in a tree; devices, sockets and fifos are left out of trees."""

    path: str
    """Relative, with `/` between its parts; never absolute, never with `.` or `..`. Bytes that are no UTF-8 are
    escaped as `os.fsdecode` does it."""
    kind: NodeKind
    """A twin is one more name of a file that came before."""
    mode: int
    """Permission bits; setuid, setgid and sticky are left out."""
    size: int = 0
    mtime_ns: int = 0
    stamp: str = ""
    """Changes whenever the content may have changed, such as inode, ctime and size; empty if that cannot be told."""
    target: str = ""
    """Where a link leads, and never followed; of a twin, the path of the name that came first."""


@dataclass(frozen=True, slots=True)
class Part:
    """A step in the stream of a tree: the next node, or more of the content of the file that came last."""

    node: Node | None = None
    content: bytes = b""
    hole: int = 0
    """So many bytes of zeros that take no place on disk."""
    changed: bool = False
    """The file that came last was changed while it was read: its stamp says nothing."""


Wanted = Callable[[Node], bool]
"""Asked for each file, in whatever thread reads: whether its content is to be read."""


class Tree(Protocol):
    """Reads without ever following a link, and writes only below itself."""

    def read(self, wanted: Wanted) -> AsyncIterator[Sequence[Part]]:
        """Every node, folders before what is in them, and the content of files that are wanted. Raises:
        TreeUnreadable, OSError."""
        ...

    async def fill(self, parts: AsyncIterator[Sequence[Part]]) -> None:
        """Empty the tree and make these nodes in it, owned by the sandbox's user; folders come before what is in them,
        files before their twins. Raises: TreeUnfilled, OSError."""
        ...
