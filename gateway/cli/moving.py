"""Moves files between this machine and a sandbox in pieces; a local file is whole or not there at all."""

import asyncio
import hashlib
import os
import secrets
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

PIECE_BYTES = 1_048_576

Advance = Callable[[int], None]


@dataclass(frozen=True)
class Moved:
    """What has passed."""

    bytes: int
    sha256: str


@contextmanager
def progress_bar(name: str, total: int | None, *, quiet: bool) -> Iterator[Advance]:
    """On standard error, if somebody looks at it."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, console=console, disable=quiet or not console.is_terminal, transient=True) as progress:
        task = progress.add_task(name, total=total)
        yield lambda count: progress.advance(task, count)


async def to_output(pieces: AsyncIterator[bytes], advance: Advance) -> Moved:
    """Onto standard output. Raises: OSError."""
    return await _written(pieces, sys.stdout.buffer, advance)


async def to_file(pieces: AsyncIterator[bytes], target: Path, advance: Advance, *, replace: bool) -> Moved:
    """Beside its place first, so that what breaks off leaves nothing. Raises: FileExistsError, OSError."""
    part = target.with_name(f".{target.name}.{secrets.token_hex(8)}.part")
    try:
        file = await asyncio.to_thread(part.open, "xb")
        try:
            moved = await _written(pieces, file, advance)
        finally:
            await asyncio.to_thread(file.close)
        await asyncio.to_thread(_put_in_place, part, target, replace)
    finally:
        await asyncio.to_thread(part.unlink, missing_ok=True)
    return moved


async def of_file(file: BinaryIO) -> AsyncIterator[bytes]:
    """What can be read there, to its end. Raises: OSError."""
    while piece := await asyncio.to_thread(file.read, PIECE_BYTES):
        yield piece


async def counted(pieces: AsyncIterator[bytes], advance: Advance) -> AsyncIterator[bytes]:
    """The same pieces, told of as they pass."""
    async for piece in pieces:
        advance(len(piece))
        yield piece


async def _written(pieces: AsyncIterator[bytes], file: BinaryIO, advance: Advance) -> Moved:
    digest, count = hashlib.sha256(), 0
    async for piece in pieces:
        await asyncio.to_thread(file.write, piece)
        digest.update(piece)
        count += len(piece)
        advance(len(piece))
    await asyncio.to_thread(file.flush)
    return Moved(count, digest.hexdigest())


def _put_in_place(part: Path, target: Path, replace: bool) -> None:
    if replace:
        part.replace(target)
        return
    try:
        target.hardlink_to(part)
    except FileExistsError:
        raise
    except OSError:
        # A file system without hard links; somebody who makes the file in this very moment is overwritten.
        if os.path.lexists(target):
            raise FileExistsError(target) from None
        part.rename(target)
