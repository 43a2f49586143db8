"""Files of a sandbox through its agent, which keeps them to the writable folders."""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Annotated, ParamSpec, TypeVar

from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from contracts.paths import Followed
from contracts.sandbox import Artifact, FileEntry, FileRefused
from contracts.values import Value
from sandbox.beside import Beside, Folder
from sandbox.exchange import Exchange, FarEndRefused
from sandbox.inside.places import complaint
from sandbox.inside.records import write_all
from sandbox.inside.wire import PIECE
from sandbox.link import Link
from sandbox.snapshots.threads import in_thread
from sandbox.snapshots.tree import TreeUnfilled

LARGEST_WRITE = 1_073_741_824
STEP_SECONDS = 300.0
"""Taking the digests of large files is one step."""
LONGEST_LISTING = 33_554_432
"""Bytes of names and facts."""
BESIDE_BYTES = 4 * PIECE
"""A file of this size is read where it lies, if this machine has it: the engine's stream takes ten times as long."""
PIECE_BESIDE = 1_048_576

T = TypeVar("T")
M = TypeVar("M", bound=BaseModel)
P = ParamSpec("P")

Name = Annotated[str, Field(max_length=4_096)]
Real = Annotated[str, Field(max_length=65_536)]
"""Links may make a path longer than the system takes."""
Size = Annotated[int, Field(ge=0)]
Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]

ENTRY: TypeAdapter[tuple[Name, str, int, float]] = TypeAdapter(
    tuple[Name, Annotated[str, Field(pattern="^(file|folder|link|other)$")], Size, float]
)
ARTIFACT: TypeAdapter[tuple[str, int, float, str]] = TypeAdapter(tuple[Name, Size, float, Digest])

FOLLOWED: TypeAdapter[tuple[str, Name, str]] = TypeAdapter(
    tuple[Name, Real, Annotated[str, Field(pattern="^([0-9a-f]{64}|absent|folder|unreadable|too_large|)$")]]
)


class Done(Value):
    """The end of a transfer, or where the file lies that was not transferred."""

    size: int = 0
    root: str = ""
    below: Annotated[str, Field(max_length=8_192, pattern="^([0-9a-f]{2})*$")] = ""


class Destination(Value):
    """Where new content is to be put."""

    root: str
    mode: Annotated[int, Field(ge=0, le=0o777)]


class AgentFiles:
    """The files behind one link."""

    def __init__(self, link: Link, beside: Beside | None = None) -> None:
        self._link = link
        self._beside = beside

    async def read(self, path: str, max_bytes: int) -> bytes:
        """Raises: FileRefused, LinkBroken."""
        async with self.stream(path, max_bytes) as pieces:
            return b"".join([piece async for piece in pieces])

    @asynccontextmanager
    async def stream(self, path: str, max_bytes: int) -> AsyncIterator[AsyncIterator[bytes]]:
        """Raises: FileRefused, LinkBroken."""
        folders = await self._folders() if max_bytes >= BESIDE_BYTES else {}
        async with AsyncExitStack() as owned:
            yield await _begun(self._pieces(owned, path, max_bytes, folders))

    async def write(self, path: str, content: bytes, max_bytes: int = LARGEST_WRITE) -> None:
        """Raises: FileRefused, LinkBroken."""
        most = min(max_bytes, LARGEST_WRITE)
        if len(content) > most:
            raise FileRefused(f"{path!r} would have {len(content)} bytes, more than the {most} allowed")
        if len(content) <= PIECE:
            await _told(self._link.ask({"do": "write", "path": _bytes(path)}, content), Done)
        else:
            await self.store(path, _cut(content), len(content))

    async def store(self, path: str, pieces: AsyncIterator[bytes], max_bytes: int) -> int:
        """Raises: FileRefused, LinkBroken."""
        most = min(max_bytes, LARGEST_WRITE)
        if (opened := await self._unnamed(path)) is not None:
            return await self._put(*opened, path, pieces, most)
        exchange = self._link.ask({"do": "store", "path": _bytes(path), "most": most})
        try:
            async for piece in pieces:
                exchange.write(piece)
                await _timely(exchange, exchange.drain())
            exchange.write_eof()
            return (await _told(exchange, Done)).size
        finally:
            exchange.reset()

    async def list(self, path: str) -> Sequence[FileEntry]:
        """Raises: FileRefused, LinkBroken."""
        exchange = self._link.ask({"do": "list", "path": _bytes(path)})
        found = await _lines(exchange, ENTRY)
        entries = [FileEntry(name=name, kind=kind, size=size, modified=time) for name, kind, size, time in found]
        return sorted(entries, key=lambda entry: entry.name)

    async def artifacts(self) -> Sequence[Artifact]:
        """Raises: FileRefused, LinkBroken."""
        found = await _lines(self._link.ask({"do": "artifacts"}), ARTIFACT)
        return [Artifact(path=path, size=size, modified=time, sha256=digest) for path, size, time, digest in found]

    async def follow(self, paths: Sequence[str], digests: bool) -> Sequence[Followed]:
        """Raises: FileRefused, LinkBroken."""
        asked = [_bytes(path) for path in paths]
        found = await _lines(self._link.ask({"do": "follow", "paths": asked, "digests": digests}), FOLLOWED)
        return [Followed(path=path, real=real, content=content) for path, real, content in found]

    async def _folders(self) -> Mapping[str, Folder]:
        return await self._beside.folders(self._removed) if self._beside is not None else {}

    async def _removed(self, path: str) -> bool:
        try:
            await _told(self._link.ask({"do": "beside", "act": "remove", "path": _bytes(path)}), Done)
        except FileRefused:
            return False
        return True

    async def _pieces(
        self, owned: AsyncExitStack, path: str, most: int, folders: Mapping[str, Folder]
    ) -> AsyncIterator[bytes]:
        beside = BESIDE_BYTES if folders else 0
        exchange = self._link.ask({"do": "read", "path": _bytes(path), "most": most, "beside": beside})
        owned.callback(exchange.reset)
        seen = 0
        while piece := await _timely(exchange, exchange.read()):
            seen += len(piece)
            if seen > most:
                raise exchange.broken("more of a file than was asked for")
            yield piece
        done = await _told(exchange, Done)
        if done.root in folders and not seen:
            async for piece in self._lying_here(owned, folders[done.root], done, path, most):
                yield piece
        elif done.size != seen:
            raise exchange.broken("less of a file than there is")

    async def _lying_here(
        self, owned: AsyncExitStack, folder: Folder, told: Done, path: str, most: int
    ) -> AsyncIterator[bytes]:
        try:
            file = await in_thread(folder.plain_file, os.fsdecode(bytes.fromhex(told.below)))
        except (OSError, TreeUnfilled):  # it was moved meanwhile, or this user may not
            async for piece in self._pieces(owned, path, most, {}):
                yield piece
            return
        owned.callback(os.close, file)
        seen = 0
        while piece := await _done_here(path, os.read, file, PIECE_BESIDE):
            seen += len(piece)
            if seen > most:
                raise FileRefused(f"{path!r} grew beyond the {most} bytes that may be read")
            yield piece

    async def _unnamed(self, path: str) -> tuple[Folder, int] | None:
        """A new file in the folder into which the path leads, if it can be had here."""
        if not (folders := await self._folders()):
            return None
        exchange = self._link.ask({"do": "beside", "act": "destination", "path": _bytes(path)})
        destination = await _told(exchange, Destination)
        if (folder := folders.get(destination.root)) is None:
            return None
        try:
            return folder, await in_thread(folder.unnamed, destination.mode)
        except OSError:
            return None

    async def _put(self, folder: Folder, file: int, path: str, pieces: AsyncIterator[bytes], most: int) -> int:
        size = 0
        try:
            async for piece in pieces:
                size += len(piece)
                if size > most:
                    raise FileRefused(f"{path!r} would have more than the {most} bytes allowed")
                await _done_here(path, write_all, file, piece)
            part = await _done_here(path, folder.named, file)
        finally:
            os.close(file)
        try:
            exchange = self._link.ask({"do": "beside", "act": "adopt", "part": part.encode(), "path": _bytes(path)})
            await _told(exchange, Done)
        except BaseException:
            await in_thread(folder.drop, part)
            raise
        return size


async def _begun(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Ask for the first piece, so that a refusal comes before there is a stream."""
    first = await anext(pieces, b"")

    async def all_of_them() -> AsyncIterator[bytes]:
        if first:
            yield first
        async for piece in pieces:
            yield piece

    return all_of_them()


async def _lines(exchange: Exchange, adapter: TypeAdapter[T]) -> Sequence[T]:
    text = bytearray()
    try:
        while piece := await _timely(exchange, exchange.read()):
            text += piece
            if len(text) > LONGEST_LISTING:
                raise exchange.broken("a list without end")
        await _told(exchange, Done)
        return [adapter.validate_json(line) for line in text.split(b"\n") if line]
    except ValidationError as error:
        raise exchange.broken("a list that is none") from error
    finally:
        exchange.reset()


async def _told(exchange: Exchange, model: type[M]) -> M:
    try:
        return (await _timely(exchange, exchange.answer(model)))[0]
    except FarEndRefused as error:
        raise FileRefused(str(error)) from error


async def _done_here(path: str, act: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Raises: FileRefused."""
    try:
        return await in_thread(act, *args, **kwargs)
    except OSError as error:
        raise FileRefused(complaint(repr(path), error)) from error


async def _timely(exchange: Exchange, step: Awaitable[T]) -> T:
    """Raises: LinkBroken."""
    try:
        async with asyncio.timeout(STEP_SECONDS):
            return await step
    except TimeoutError as error:
        raise exchange.broken(f"nothing of a file for {STEP_SECONDS:.0f} s") from error


async def _cut(content: bytes) -> AsyncIterator[bytes]:
    for at in range(0, len(content), PIECE_BESIDE):
        yield content[at : at + PIECE_BESIDE]


def _bytes(path: str) -> bytes:
    """Raises: FileRefused."""
    try:
        return path.encode()
    except UnicodeEncodeError as error:
        raise FileRefused(f"not a path: {path!r}") from error
