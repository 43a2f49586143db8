"""Objects as files of a local folder: written beside, put on disk, then renamed."""

import asyncio
import errno
import os
import secrets
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from sandbox.snapshots.direct import past_the_cache
from sandbox.snapshots.shelf import ObjectMissing, ShelfUnreachable

FOLDER_MODE = 0o700
FILE_MODE = 0o600
UNFINISHED = "unfinished"

T = TypeVar("T")


class FolderShelf:
    """Satisfies sandbox.snapshots.shelf.Shelf. Several processes may share one folder."""

    def __init__(self, root: Path) -> None:
        self._root = root

    async def put(self, name: str, content: bytes) -> None:
        await self._try(lambda: self._write(name, content))

    async def get(self, name: str) -> bytes:
        return await self._try(self._path(name).read_bytes)

    async def local(self, name: str, scratch: Path) -> Path:
        """A second name of the file, so that it stays when it is deleted here meanwhile; or the file itself."""

        def link() -> Path:
            path = self._path(name)
            second = scratch / secrets.token_hex(8)
            try:
                second.hardlink_to(path)
            except FileNotFoundError:
                raise
            except OSError:  # another file system, or one without links
                path.stat()
                return path
            return second

        return await self._try(link)

    async def names(self, folder: str) -> list[str]:
        def listed() -> list[str]:
            found = (self._root / folder).rglob("*")
            return sorted(path.relative_to(self._root).as_posix() for path in found if path.is_file())

        return await self._try(listed)

    async def missing(self, names: Collection[str]) -> set[str]:
        return await self._try(lambda: {name for name in names if not self._path(name).is_file()})

    async def delete(self, names: Collection[str]) -> None:
        def unlink() -> None:
            for name in names:
                self._path(name).unlink(missing_ok=True)
            for folder in {self._path(name).parent for name in names}:
                with suppress(FileNotFoundError):
                    _sync(folder)

        await self._try(unlink)

    async def tidy(self, older_than_seconds: float) -> None:
        def sweep() -> None:
            folder = self._root / UNFINISHED
            for path in folder.iterdir() if folder.is_dir() else ():
                with suppress(FileNotFoundError):
                    if time.time() - path.stat().st_mtime >= older_than_seconds:
                        path.unlink()

        await self._try(sweep)

    def _path(self, name: str) -> Path:
        return self._root / name

    def _write(self, name: str, content: bytes) -> None:
        unfinished, path = self._root / UNFINISHED, self._path(name)
        self._root.parent.mkdir(parents=True, exist_ok=True)
        for folder in (self._root, unfinished, *reversed(path.relative_to(self._root).parents[:-1])):
            (self._root / folder).mkdir(mode=FOLDER_MODE, exist_ok=True)
        beside = unfinished / f"{path.name[:40]}.{secrets.token_hex(8)}"
        try:
            descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, FILE_MODE)
            with os.fdopen(descriptor, "wb", buffering=0) as file:
                rest = memoryview(content)[past_the_cache(descriptor, content) :]
                while rest:
                    rest = rest[file.write(rest) :]
                os.fsync(descriptor)
            beside.replace(path)
        except OSError:
            beside.unlink(missing_ok=True)
            raise
        _sync(path.parent)

    async def _try(self, act: Callable[[], T]) -> T:
        try:
            return await asyncio.to_thread(act)
        except FileNotFoundError as error:
            raise ObjectMissing(f"{error.filename} is missing") from error
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise ShelfUnreachable(f"the disk of {self._root} is full: free some space there") from error
            raise ShelfUnreachable(f"{self._root} cannot be used: {error.strerror}") from error


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
