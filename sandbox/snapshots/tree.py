"""One lasting folder of a sandbox, as a snapshot reads and fills it. What is in it was written by untrusted code."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Literal, Protocol


@dataclass(frozen=True)
class Node:
    """One name in a tree; devices, sockets and fifos are left out of trees."""

    path: str
    """Relative, with `/` between its parts; never absolute, never with `.` or `..`."""
    kind: Literal["file", "folder", "link"]
    mode: int
    """Permission bits; setuid, setgid and sticky are left out."""
    size: int = 0
    mtime_ns: int = 0
    stamp: str = ""
    """Changes whenever the content may have changed, such as inode, ctime and size; empty if that cannot be told."""
    target: str = ""
    """Where a link leads; never followed."""


class Tree(Protocol):
    """Reads without ever following a link, and writes only below itself."""

    def nodes(self) -> AsyncIterator[Node]:
        """Folders before what is in them."""
        ...

    def content(self, node: Node) -> AsyncIterator[bytes]:
        """The content of a file, in pieces of at most 1 MiB."""
        ...

    async def fill(self, nodes: AsyncIterator[tuple[Node, AsyncIterator[bytes]]]) -> None:
        """Empty the tree and make these nodes in it, owned by the sandbox's user."""
        ...
