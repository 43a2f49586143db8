"""A real forward proxy on loopback: permitted names lead to the test sites, everything else is refused with 403."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

REFUSAL = (
    b"HTTP/1.1 403 Forbidden\r\nX-Asos-Reason: not_allowed\r\nContent-Length: 7\r\nConnection: close\r\n\r\nrefused"
)


class Proxy:
    """One proxy; `asked` lists every host that was asked for, `refused` those that got 403."""

    def __init__(self, permits: Callable[[str], bool], http_port: int, tls_port: int) -> None:
        self._permits = permits
        self._http_port = http_port
        self._tls_port = tls_port
        self.asked: list[str] = []
        self.refused: list[str] = []

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[str]:
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        try:
            yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        finally:
            server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            await self._one(reader, writer)
        writer.close()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        method, target, _ = head.split(b"\r\n", 1)[0].decode().split(" ")
        host = target.rpartition(":")[0] if method == "CONNECT" else (urlsplit(target).hostname or "")
        self.asked.append(host)
        if not self._permits(host):
            self.refused.append(host)
            writer.write(REFUSAL)
            await writer.drain()
            return
        port = self._tls_port if method == "CONNECT" else self._http_port
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", port)
        if method == "CONNECT":
            writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        else:
            far_writer.write(head)
        await asyncio.gather(_pump(reader, far_writer), _pump(far_reader, writer))


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError):
        while chunk := await reader.read(65_536):
            writer.write(chunk)
            await writer.drain()
    with contextlib.suppress(ConnectionError, RuntimeError):
        writer.close()
