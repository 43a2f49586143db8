"""Moves bytes between two connections, a bounded piece at a time."""

import asyncio
from dataclasses import dataclass
from typing import Protocol

import h11

IDLE_SECONDS = 600.0
PIECE_BYTES = 65_536
HOP_BY_HOP = frozenset((b"connection", b"keep-alive", b"proxy-authenticate", b"upgrade"))


class Reader(Protocol):
    """The reading half of asyncio's streams; empty bytes are the end."""

    async def read(self, n: int = ..., /) -> bytes: ...


class Writer(Protocol):
    """The writing half."""

    def write(self, data: bytes, /) -> None: ...

    async def drain(self) -> None: ...

    def write_eof(self) -> None: ...

    def close(self) -> None: ...


@dataclass
class Counts:
    """Bytes of content so far, as seen from the sandbox."""

    up: int = 0
    down: int = 0


async def tunnel(
    early: bytes, reader: Reader, writer: Writer, far_reader: Reader, far_writer: Writer, counts: Counts
) -> None:
    """Both ways, unread, until both ends have said all or one breaks."""
    if early:
        far_writer.write(early)
        counts.up += len(early)

    async def up() -> None:
        while piece := await _piece(reader):
            counts.up += len(piece)
            await _send(far_writer, piece)
        far_writer.write_eof()

    async def down() -> None:
        while piece := await _piece(far_reader):
            counts.down += len(piece)
            await _send(writer, piece)
        writer.write_eof()

    await _side_by_side(asyncio.create_task(up()), asyncio.create_task(down()))


async def relay(
    client: h11.Connection,
    request: h11.Request,
    reader: Reader,
    writer: Writer,
    far_reader: Reader,
    far_writer: Writer,
    counts: Counts,
) -> None:
    """One plain request and its answer; both are read and written anew, so that nothing rides along."""
    server = h11.Connection(h11.CLIENT)
    await _send(far_writer, server.send(request) or b"")

    async def up() -> None:
        if client.they_are_waiting_for_100_continue:
            await _send(writer, client.send(h11.InformationalResponse(status_code=100, headers=[])) or b"")
        while True:
            event = await _event(client, reader)
            if isinstance(event, h11.Data):
                counts.up += len(event.data)
                await _send(far_writer, server.send(event) or b"")
            elif isinstance(event, h11.EndOfMessage):
                await _send(far_writer, server.send(h11.EndOfMessage()) or b"")
                return
            else:
                return

    async def down() -> None:
        while True:
            event = await _event(server, far_reader)
            if isinstance(event, h11.Response):
                headers = [pair for pair in event.headers.raw_items() if pair[0].lower() not in HOP_BY_HOP]
                answer = h11.Response(
                    status_code=event.status_code, reason=event.reason, headers=[*headers, (b"Connection", b"close")]
                )
                await _send(writer, client.send(answer) or b"")
            elif isinstance(event, h11.Data):
                counts.down += len(event.data)
                await _send(writer, client.send(event) or b"")
            elif isinstance(event, h11.EndOfMessage):
                await _send(writer, client.send(h11.EndOfMessage()) or b"")
                return
            elif isinstance(event, h11.ConnectionClosed):
                return

    upload = asyncio.create_task(up())
    try:
        await down()
    finally:
        upload.cancel()
        await asyncio.gather(upload, return_exceptions=True)


async def _event(connection: h11.Connection, reader: Reader) -> object:
    while (event := connection.next_event()) is h11.NEED_DATA:
        connection.receive_data(await _piece(reader))
    return event


async def _piece(reader: Reader) -> bytes:
    async with asyncio.timeout(IDLE_SECONDS):
        return await reader.read(PIECE_BYTES)


async def _send(writer: Writer, piece: bytes) -> None:
    if piece:
        writer.write(piece)
        async with asyncio.timeout(IDLE_SECONDS):
            await writer.drain()


async def _side_by_side(*tasks: asyncio.Task[None]) -> None:
    """Until all are done or one fails; then the others end too."""
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
