"""Moves bytes between two connections, a bounded piece at a time, each piece counted before it goes on."""

import asyncio
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import h11

from sandbox.reaching import Far

IDLE_SECONDS = 600.0
PIECE_BYTES = 65_536
HOP_BY_HOP = frozenset((b"connection", b"keep-alive", b"proxy-authenticate", b"proxy-connection", b"upgrade"))
NEVER_FROM_SERVERS = HOP_BY_HOP | {b"x-asos-reason"}
"""Nor may a server's answer pass for one of the proxy's own."""
NEVER_LAST = NEVER_FROM_SERVERS | {b"content-length", b"transfer-encoding", b"host", b"trailer"}
"""What may not stand behind the content."""


class BadContent(Exception):
    """Raised when the content that a sandbox sends breaks off or cannot be read."""


class Reader(Protocol):
    """The reading half of asyncio's streams; empty bytes are the end."""

    async def read(self, n: int = ..., /) -> bytes: ...


class Writer(Protocol):
    """The writing half."""

    def write(self, data: bytes, /) -> None: ...

    async def drain(self) -> None: ...

    def write_eof(self) -> None: ...

    def close(self) -> None: ...


class Tally(Protocol):
    """Is told of bytes before they go on, and may hold them up or stop them by what it raises."""

    def announced(self, *, up: int = ..., down: int = ...) -> None: ...

    async def sent(self, count: int, /) -> None: ...

    async def received(self, count: int, /) -> None: ...


class Pulse:
    """When either direction of a connection last moved: a long download is not idle because nothing is sent."""

    def __init__(self) -> None:
        self.moved = time.monotonic()

    async def piece(self, reader: Reader) -> bytes:
        """The next bytes. Raises: TimeoutError if nothing moved either way for long."""
        while True:
            try:
                async with asyncio.timeout(IDLE_SECONDS):
                    piece = await reader.read(PIECE_BYTES)
            except TimeoutError:
                if time.monotonic() - self.moved >= IDLE_SECONDS:
                    raise
            else:
                self.moved = time.monotonic()
                return piece


async def tunnel(early: bytes, reader: Reader, writer: Writer, far: Far, tally: Tally, late: bytes = b"") -> None:
    """Both ways, unread, until both ends have said all or one breaks; `early` and `late` were read before.

    TLS to the server knows no half-closed connection: there the sandbox's end is the end.
    """

    pulse = Pulse()

    async def up() -> None:
        piece = early or await pulse.piece(reader)
        while piece:
            await tally.sent(len(piece))
            await send(far.writer, piece)
            piece = await pulse.piece(reader)
        if far.writer.can_write_eof():
            far.writer.write_eof()

    async def down() -> None:
        piece = late or await pulse.piece(far.reader)
        while piece:
            await tally.received(len(piece))
            await send(writer, piece)
            piece = await pulse.piece(far.reader)
        writer.write_eof()

    upward, downward = asyncio.create_task(up()), asyncio.create_task(down())
    try:
        await asyncio.wait((upward, downward), return_when=asyncio.FIRST_COMPLETED)
        if upward.done() and (upward.exception() is not None or not far.writer.can_write_eof()):
            return upward.result()
        await asyncio.gather(upward, downward)
    finally:
        await _end_all(upward, downward)


async def relay(
    client: h11.Connection, request: h11.Request, reader: Reader, writer: Writer, far: Far, tally: Tally
) -> tuple[int, bytes]:
    """One request and its answer; both are read and written anew, so that nothing rides along.

    Gives the answer's status, and what the server said beyond it. Raises: h11.RemoteProtocolError, OSError, EOFError
    for the server's end, BadContent for the sandbox's, and what the tally raises.
    """
    tally.announced(up=_length(request.headers))
    passage = _Passage(client, request, reader, writer, far, tally)
    await send(far.writer, passage.server.send(request) or b"")
    upload, answer = asyncio.create_task(passage.up()), asyncio.create_task(passage.down())
    try:
        await asyncio.wait([upload, answer], return_when=asyncio.FIRST_COMPLETED)
        failure = upload.exception() if upload.done() else None
        # A server may answer and take no more of a long upload: its answer counts.
        if failure is not None and not isinstance(failure, OSError):
            raise failure
        return await answer, passage.server.trailing_data[0]
    finally:
        await _end_all(upload, answer)


@dataclass(frozen=True)
class _Passage:
    """One request on its way, and its answer on the way back."""

    client: h11.Connection
    request: h11.Request
    reader: Reader
    writer: Writer
    far: Far
    tally: Tally
    server: h11.Connection = field(
        default_factory=lambda: h11.Connection(h11.CLIENT, max_incomplete_event_size=PIECE_BYTES)
    )
    pulse: Pulse = field(default_factory=Pulse)

    async def up(self) -> None:
        if self.client.they_are_waiting_for_100_continue:
            go_on = h11.InformationalResponse(status_code=100, headers=[])
            await send(self.writer, self.client.send(go_on) or b"")
        while True:
            event = await self._content()
            if isinstance(event, h11.Data):
                await self.tally.sent(len(event.data))
                await send(self.far.writer, self.server.send(h11.Data(data=event.data)) or b"")
            elif isinstance(event, h11.EndOfMessage):
                await send(self.far.writer, self.server.send(_end(event.headers.raw_items())) or b"")
                return
            else:
                return

    async def down(self) -> int:
        """The status of the answer, once it has been passed on whole."""
        status = 0
        while True:
            event = await self._event(self.server, self.far.reader)
            if isinstance(event, h11.InformationalResponse) and event.status_code == 101:
                switched = h11.InformationalResponse(status_code=101, headers=event.headers, reason=event.reason)
                await send(self.writer, self.client.send(switched) or b"")
                return 101
            if isinstance(event, h11.Response):
                status = event.status_code
                await self._answer(event)
            elif isinstance(event, h11.Data):
                await self.tally.received(len(event.data))
                await send(self.writer, self.client.send(h11.Data(data=event.data)) or b"")
            elif isinstance(event, h11.EndOfMessage):
                trailers = event.headers.raw_items() if self.client.their_http_version == b"1.1" else []
                await send(self.writer, self.client.send(_end(trailers)) or b"")
                return status
            elif isinstance(event, h11.ConnectionClosed):
                raise EOFError("the server ended the connection")

    async def _answer(self, event: h11.Response) -> None:
        if self.request.method != b"HEAD" and event.status_code not in (204, 304):
            self.tally.announced(down=_length(event.headers))
        headers = [pair for pair in event.headers.raw_items() if pair[0].lower() not in NEVER_FROM_SERVERS]
        answer = h11.Response(status_code=event.status_code, reason=event.reason, headers=headers)
        await send(self.writer, self.client.send(answer) or b"")

    async def _content(self) -> object:
        try:
            return await self._event(self.client, self.reader)
        except h11.RemoteProtocolError as error:
            raise BadContent(str(error)) from error

    async def _event(self, connection: h11.Connection, reader: Reader) -> object:
        while (event := connection.next_event()) is h11.NEED_DATA:
            connection.receive_data(await self.pulse.piece(reader))
        return event


def _end(trailers: Sequence[tuple[bytes, bytes]]) -> h11.EndOfMessage:
    return h11.EndOfMessage(headers=[pair for pair in trailers if pair[0].lower() not in NEVER_LAST])


def _length(headers: Iterable[tuple[bytes, bytes]]) -> int:
    return next((int(value) for name, value in headers if name == b"content-length"), 0)


async def send(writer: Writer, piece: bytes) -> None:
    """Raises: OSError, TimeoutError if the other end takes nothing for long."""
    if piece:
        writer.write(piece)
        async with asyncio.timeout(IDLE_SECONDS):
            await writer.drain()


async def _end_all(*tasks: asyncio.Task[Any]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
