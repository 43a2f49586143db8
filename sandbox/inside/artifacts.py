"""Looks through the workspace for the files that a task made, and takes the digest of each."""

from __future__ import annotations

import hashlib
import os
import stat

from sandbox.inside.files import PART, Lines
from sandbox.inside.places import FOLDER, WORKSPACE
from sandbox.inside.words import said

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from sandbox.inside.link import Link
    from sandbox.inside.loop import Loop

MOST_FILES = 10_000
MOST_FOLDERS = 20_000
DEEPEST = 100
"""Each folder on the way down is held open."""
PIECE = 1_048_576


class Artifacts(Lines):
    """The plain files below the workspace, a step at a time; neither links nor devices."""

    def __init__(self, loop: Loop, link: Link, number: int) -> None:
        super().__init__(link, number)
        self._folders = 0
        loop.in_background(self._steps())

    def _steps(self) -> Iterator[None]:
        try:
            root = os.open(WORKSPACE, FOLDER)
            try:
                yield from self._below(root, b"", 0)
            finally:
                os.close(root)
        except (OSError, _TooMany) as error:
            self.found = []
            if not self._dropped:
                self.reply({"error": f"/workspace: {error}"})
        else:
            if not self._dropped:
                self.send_all()

    def _below(self, folder: int, path: bytes, depth: int) -> Iterator[None]:
        self._folders += 1
        if self._folders > MOST_FOLDERS or depth > DEEPEST:
            raise _TooMany(f"more than {MOST_FOLDERS} folders, or {DEEPEST} one in another")
        for name in _names(folder):
            if self._dropped:
                return
            whole = path + name
            try:
                facts = os.stat(name, dir_fd=folder, follow_symlinks=False)
                if stat.S_ISDIR(facts.st_mode):
                    below = os.open(name, FOLDER, dir_fd=folder)
                elif stat.S_ISREG(facts.st_mode) and not name.startswith(PART):
                    yield from self._file(folder, name, whole)
                    continue
                else:
                    continue
            except OSError:
                continue  # it is gone, or not to be read
            try:
                yield from self._below(below, whole + b"/", depth + 1)
            finally:
                os.close(below)

    def _file(self, folder: int, name: bytes, path: bytes) -> Iterator[None]:
        if len(self.found) >= MOST_FILES:
            raise _TooMany(f"more than {MOST_FILES} files")
        file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
        digest, size = hashlib.sha256(), 0
        try:
            facts = os.fstat(file)
            while stat.S_ISREG(facts.st_mode) and (piece := os.read(file, PIECE)):
                digest.update(piece)
                size += len(piece)
                yield
                if self._dropped:
                    return
        finally:
            os.close(file)
        shown = path.decode("utf-8", "replace")
        self.found.append(said([shown, size, facts.st_mtime, digest.hexdigest()]).encode("ascii"))


class _TooMany(Exception):
    """Raised when there is more than one answer can hold."""


def _names(folder: int) -> list[bytes]:
    """Sorted, so that two looks at the same files give the same; none of a folder that may not be looked into."""
    try:
        again = os.open(b".", os.O_RDONLY | os.O_DIRECTORY, dir_fd=folder)
    except PermissionError:
        return []
    try:
        return sorted(os.fsencode(name) for name in os.listdir(again))
    finally:
        os.close(again)
