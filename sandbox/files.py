"""Files of a sandbox through its agent, which keeps them to the writable folders."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Sequence
from contextlib import asynccontextmanager
from typing import Annotated, TypeVar

from pydantic import Field, TypeAdapter, ValidationError

from contracts.sandbox import Artifact, FileEntry, FileRefused
from contracts.values import Value
from sandbox.exchange import Exchange, FarEndRefused
from sandbox.inside.wire import PIECE
from sandbox.link import Link

LARGEST_WRITE = 1_073_741_824
STEP_SECONDS = 300.0
"""Taking the digests of large files is one step."""
LONGEST_LISTING = 33_554_432
"""Bytes of names and facts."""

T = TypeVar("T")

Name = Annotated[str, Field(max_length=4_096)]
Size = Annotated[int, Field(ge=0)]
Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]

ENTRY: TypeAdapter[tuple[Name, str, int, float]] = TypeAdapter(
    tuple[Name, Annotated[str, Field(pattern="^(file|folder|link|other)$")], Size, float]
)
ARTIFACT: TypeAdapter[tuple[str, int, float, str]] = TypeAdapter(tuple[Name, Size, float, Digest])


class Done(Value):
    """The end of a transfer."""

    size: int = 0


class AgentFiles:
    """The files behind one link."""

    def __init__(self, link: Link) -> None:
        self._link = link

    async def read(self, path: str, max_bytes: int) -> bytes:
        """Raises: FileRefused, LinkBroken."""
        async with self.stream(path, max_bytes) as pieces:
            return b"".join([piece async for piece in pieces])

    @asynccontextmanager
    async def stream(self, path: str, max_bytes: int) -> AsyncIterator[AsyncIterator[bytes]]:
        """Raises: FileRefused, LinkBroken."""
        exchange = self._link.ask({"do": "read", "path": _bytes(path), "most": max_bytes})
        try:
            pieces = _pieces(exchange, max_bytes)
            yield await _begun(pieces)
        finally:
            exchange.reset()

    async def write(self, path: str, content: bytes) -> None:
        """Raises: FileRefused, LinkBroken."""
        if len(content) > LARGEST_WRITE:
            raise FileRefused(f"{path!r} would have {len(content)} bytes, more than the {LARGEST_WRITE} allowed")
        if len(content) <= PIECE:
            await _done(self._link.ask({"do": "write", "path": _bytes(path)}, content))
        else:
            await self.store(path, _cut(content), len(content))

    async def store(self, path: str, pieces: AsyncIterator[bytes], max_bytes: int) -> int:
        """Raises: FileRefused, LinkBroken."""
        exchange = self._link.ask({"do": "store", "path": _bytes(path), "most": min(max_bytes, LARGEST_WRITE)})
        try:
            async for piece in pieces:
                exchange.write(piece)
                await _timely(exchange, exchange.drain())
            exchange.write_eof()
            return (await _done(exchange)).size
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


async def _begun(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Ask for the first piece, so that a refusal comes before there is a stream."""
    first = await anext(pieces, b"")

    async def all_of_them() -> AsyncIterator[bytes]:
        if first:
            yield first
        async for piece in pieces:
            yield piece

    return all_of_them()


async def _pieces(exchange: Exchange, most: int) -> AsyncIterator[bytes]:
    seen = 0
    while piece := await _timely(exchange, exchange.read()):
        seen += len(piece)
        if seen > most:
            raise exchange.broken("more of a file than was asked for")
        yield piece
    if (await _done(exchange)).size != seen:
        raise exchange.broken("less of a file than there is")


async def _lines(exchange: Exchange, adapter: TypeAdapter[T]) -> Sequence[T]:
    text = bytearray()
    try:
        while piece := await _timely(exchange, exchange.read()):
            text += piece
            if len(text) > LONGEST_LISTING:
                raise exchange.broken("a list without end")
        await _done(exchange)
        return [adapter.validate_json(line) for line in text.split(b"\n") if line]
    except ValidationError as error:
        raise exchange.broken("a list that is none") from error
    finally:
        exchange.reset()


async def _done(exchange: Exchange) -> Done:
    try:
        return (await _timely(exchange, exchange.answer(Done)))[0]
    except FarEndRefused as error:
        raise FileRefused(str(error)) from error


async def _timely(exchange: Exchange, step: Awaitable[T]) -> T:
    """Raises: LinkBroken."""
    try:
        async with asyncio.timeout(STEP_SECONDS):
            return await step
    except TimeoutError as error:
        raise exchange.broken(f"nothing of a file for {STEP_SECONDS:.0f} s") from error


async def _cut(content: bytes) -> AsyncIterator[bytes]:
    for at in range(0, len(content), 4 * PIECE):
        yield content[at : at + 4 * PIECE]


def _bytes(path: str) -> bytes:
    """Raises: FileRefused."""
    try:
        return path.encode()
    except UnicodeEncodeError as error:
        raise FileRefused(f"not a path: {path!r}") from error
