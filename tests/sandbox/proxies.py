"""A proxy on a port of its own, servers for it to reach, and a resolver that a test fills."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from contracts.messages import HostGrant
from sandbox.egress import EgressProxy, EgressRecord
from sandbox.grants import Grants
from sandbox.house import HouseRules, Rewrite, unchanged
from sandbox.metering import Meter


@asynccontextmanager
async def origin() -> AsyncIterator[int]:
    """A server that answers one plain request with what it was asked, and after CONNECT echoes."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        first = await reader.readline()
        if first.startswith(b"echo"):
            while piece := await reader.read(1_000):
                writer.write(piece)
        else:
            head = first
            while (line := await reader.readline()) not in (b"\r\n", b""):
                head += line
            length = next((int(one[15:]) for one in head.lower().split(b"\r\n") if one[:15] == b"content-length:"), 0)
            body = head + await reader.readexactly(length)
            writer.write(
                b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: keep-alive\r\n\r\n%s" % (len(body), body)
            )
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


class Proxy:
    """The proxy on a port of its own, with what it recorded."""

    def __init__(
        self,
        grants: Sequence[HostGrant],
        names: dict[str, list[str]],
        house: HouseRules | None = None,
        meter: Meter | None = None,
        rewrite: Rewrite = unchanged,
    ) -> None:
        self.records: list[EgressRecord] = []
        self._noted = asyncio.Event()
        self.asked: list[str] = []
        self.names = names
        self.egress = EgressProxy(
            Grants(grants), self._note, resolve=self._resolve, house=house, meter=meter, rewrite=rewrite
        )
        self.port = 0

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def _resolve(self, host: str, port: int) -> Sequence[str]:
        self.asked.append(host)
        if host not in self.names:
            raise OSError("no such name")
        return self.names[host]

    async def ask(self, request: bytes) -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(request)
        writer.write_eof()
        answer = await asyncio.wait_for(reader.read(-1), 20)
        writer.close()
        await writer.wait_closed()
        return answer

    async def recorded(self, count: int) -> list[EgressRecord]:
        """The records, once there are so many: a line is written a moment after the client has its answer."""
        async with asyncio.timeout(20):
            while len(self.records) < count:
                self._noted.clear()
                await self._noted.wait()
        return self.records

    def _note(self, record: EgressRecord) -> None:
        self.records.append(record)
        self._noted.set()


@asynccontextmanager
async def proxy(
    *grants: HostGrant,
    names: dict[str, list[str]] | None = None,
    house: HouseRules | None = None,
    meter: Meter | None = None,
    rewrite: Rewrite = unchanged,
) -> AsyncIterator[Proxy]:
    made = Proxy(grants, names or {}, house, meter, rewrite)
    server = await asyncio.start_server(made.egress.serve, "127.0.0.1", 0)
    async with server:
        made.port = server.sockets[0].getsockname()[1]
        yield made


def connect(place: str) -> bytes:
    return f"CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n\r\n".encode()


class Origin:
    """A server that answers every connection with the same bytes, and keeps what it was sent."""

    def __init__(self, answer: bytes) -> None:
        self.answer = answer
        self.heard: list[bytes] = []
        self.port = 0
        self.grant = HostGrant(host="site.test", port=80)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard = await reader.readuntil(b"\r\n\r\n")
        self.heard.append(heard)
        if b"Transfer-Encoding" in heard:
            self.heard[-1] += await reader.readuntil(b"0\r\n") + await reader.readuntil(b"\r\n\r\n")
        writer.write(self.answer)
        if b"101 Switching" in self.answer:
            while piece := await reader.read(1_000):
                writer.write(piece)
        writer.close()


@asynccontextmanager
async def saying(answer: bytes, tls: ssl.SSLContext | None = None) -> AsyncIterator[Origin]:
    made = Origin(answer)
    async with await asyncio.start_server(made.serve, "127.0.0.1", 0, ssl=tls) as server:
        made.port = server.sockets[0].getsockname()[1]
        made.grant = HostGrant(host="site.test", port=443 if tls else 80, address=f"127.0.0.1:{made.port}")
        yield made


def get(url: str, *headers: str, method: str = "GET") -> bytes:
    lines = [f"{method} {url} HTTP/1.1", f"Host: {url.split('/')[2]}", *headers, "", ""]
    return "\r\n".join(lines).encode()
