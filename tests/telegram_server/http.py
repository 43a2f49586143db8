"""HTTP/1.1 on asyncio streams, low enough to drop, reset or hang an answer at will."""

import asyncio
import contextlib
import socket
import struct
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, unquote, urlsplit

import h11

_READ_BYTES = 65_536


@dataclass(frozen=True)
class Request:
    """One request, read whole."""

    method: str
    path: str
    query: dict[str, str]
    content_type: str
    body: bytes
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Reply:
    """One answer."""

    status: int
    body: bytes
    content_type: str = "application/json"


class Dropped(Exception):
    """Raised by a handler to close the connection without an answer; with `reset`, by a TCP reset."""

    def __init__(self, *, reset: bool = False) -> None:
        super().__init__("reset" if reset else "closed")
        self.reset = reset


Handler = Callable[[Request], Awaitable[Reply]]


class HttpServer:
    """Serves one handler on an ephemeral (or given) loopback port until it is closed."""

    def __init__(self, handler: Handler, port: int = 0) -> None:
        self._handler = handler
        self._port = port
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", self._port)
        self._port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        if self._server is not None:
            self._server.close()
        for task in list(self._connections):
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is not None:
            self._connections.add(task)
            task.add_done_callback(self._connections.discard)
        try:
            with contextlib.suppress(ConnectionError, h11.RemoteProtocolError, asyncio.CancelledError):
                await self._serve(reader, writer)
        finally:
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = h11.Connection(h11.SERVER)
        while True:
            request = await _read(connection, reader)
            if request is None:
                return
            try:
                reply = await self._handler(request)
            except Dropped as dropped:
                if dropped.reset:
                    _linger_nothing(writer)
                return
            writer.write(_encode(connection, reply))
            await writer.drain()
            if connection.our_state is not h11.DONE or connection.their_state is not h11.DONE:
                return
            connection.start_next_cycle()


async def _read(connection: h11.Connection, reader: asyncio.StreamReader) -> Request | None:
    head: h11.Request | None = None
    body = bytearray()
    while True:
        event = connection.next_event()
        if event is h11.NEED_DATA:
            connection.receive_data(await reader.read(_READ_BYTES))
        elif isinstance(event, h11.Request):
            head = event
        elif isinstance(event, h11.Data):
            body.extend(event.data)
        elif isinstance(event, h11.EndOfMessage) and head is not None:
            return _request(head, bytes(body))
        else:
            return None


def _request(head: h11.Request, body: bytes) -> Request:
    target = urlsplit(head.target.decode("ascii"))
    headers = {name.decode("ascii"): value.decode("latin-1") for name, value in head.headers}
    return Request(
        method=head.method.decode("ascii"),
        path=unquote(target.path),
        query=dict(parse_qsl(target.query)),
        content_type=headers.get("content-type", ""),
        body=body,
        headers=headers,
    )


def _encode(connection: h11.Connection, reply: Reply) -> bytes:
    headers = [("content-type", reply.content_type), ("content-length", str(len(reply.body)))]
    parts = [
        connection.send(h11.Response(status_code=reply.status, headers=headers)),
        connection.send(h11.Data(data=reply.body)),
        connection.send(h11.EndOfMessage()),
    ]
    return b"".join(part for part in parts if part)


def _linger_nothing(writer: asyncio.StreamWriter) -> None:
    # With a linger time of zero, close sends a reset in place of an orderly end.
    plain: socket.socket = writer.get_extra_info("socket")
    plain.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
