"""The folders of a sandbox as this machine has them: large files go there directly instead of through the stream.

The agent still says where a path leads, and puts new content in its place with the rights of the sandbox's user. What
it says is not trusted: here only plain files are opened, a name at a time, below the sandbox's own folders, and never
through a link.
"""

import asyncio
import os
import secrets
from collections.abc import Awaitable, Callable, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

from contracts.sandbox import SandboxLost
from sandbox.driver import Unsupported
from sandbox.snapshots.descending import FOLDER, Descent, open_file, opened
from sandbox.snapshots.filling import checked
from sandbox.snapshots.folder_tree import FolderTree
from sandbox.snapshots.threads import in_thread
from sandbox.snapshots.tree import Tree

ROOTS = {"home": "/home/agent", "workspace": "/workspace"}
"""Where the trees of a sandbox are, as it sees them."""
UNNAMED = os.O_WRONLY | os.O_TMPFILE | os.O_CLOEXEC
"""A file that is gone by itself if this process dies before it has a name."""

Trees = Callable[[], Awaitable[Mapping[str, Tree]]]
Remove = Callable[[str], Awaitable[bool]]
"""Asks the agent to remove a file, and says whether it did."""


@dataclass(frozen=True)
class Folder:
    """One lasting folder of a sandbox. What belongs to its user belongs to `uid` here, or to this process's own."""

    root: str
    path: Path
    uid: int | None

    def plain_file(self, below: str) -> int:
        """The file at that path, for reading. Raises: TreeUnfilled, OSError."""
        folder, _, name = checked(below).rpartition("/")
        with (
            opened(os.open(self.path, FOLDER)) as top,
            closing(Descent(top)) as descent,
            descent.folder(folder) as last,
        ):
            return open_file(last, name)

    def unnamed(self, mode: int) -> int:
        """A new file without a name. Raises: OSError, also where the file system has none."""
        file = os.open(self.path, UNNAMED, 0o600)
        try:
            if self.uid is not None:
                os.fchown(file, self.uid, self.uid)
            os.fchmod(file, mode & 0o777)
        except BaseException:
            os.close(file)
            raise
        return file

    def named(self, file: int) -> str:
        """Give it a name that nobody else uses; the path as the sandbox sees it. Raises: OSError."""
        name = f".asos-{secrets.token_hex(8)}"
        with opened(os.open(self.path, FOLDER)) as top:
            os.link(f"/proc/self/fd/{file}", name, dst_dir_fd=top, follow_symlinks=True)
        return f"{self.root}/{name}"

    def drop(self, part: str) -> None:
        """It was named in vain."""
        with suppress(OSError), opened(os.open(self.path, FOLDER)) as top:
            os.unlink(part.rpartition("/")[2], dir_fd=top)


class Beside:
    """The folders of one sandbox that can be reached, looked for once."""

    def __init__(self, trees: Trees) -> None:
        self._trees = trees
        self._found: dict[str, Folder] | None = None
        self._looking = asyncio.Lock()

    async def folders(self, remove: Remove) -> Mapping[str, Folder]:
        """By their path in the sandbox; none where the engine is elsewhere or this process may not."""
        async with self._looking:
            if self._found is None:
                self._found = {each.root: each for each in await self._possible() if await _is_its_own(each, remove)}
            return self._found

    async def _possible(self) -> list[Folder]:
        try:
            trees = await self._trees()
        except (SandboxLost, Unsupported):
            return []
        found = [(ROOTS.get(name), tree) for name, tree in trees.items()]
        return [Folder(root, tree.path, tree.uid) for root, tree in found if root and isinstance(tree, FolderTree)]


async def _is_its_own(folder: Folder, remove: Remove) -> bool:
    """Whether the sandbox sees what is made here: it might have mounted something else there than lies here."""

    def make() -> str:
        with opened(folder.unnamed(0o600)) as file:
            return folder.named(file)

    try:
        part = await in_thread(make)
    except OSError:
        return False
    seen = False
    try:
        seen = await remove(part)
    finally:
        if not seen:
            await in_thread(folder.drop, part)
    return seen
