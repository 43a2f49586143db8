"""A proxy on a port of its own, servers for it to reach, and a resolver that a test fills."""

import asyncio
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
        self.asked: list[str] = []
        self.names = names
        self.egress = EgressProxy(
            Grants(grants), self.records.append, resolve=self._resolve, house=house, meter=meter, rewrite=rewrite
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
