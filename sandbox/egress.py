"""The only way out of a sandbox: an HTTP proxy that opens what was granted, and refuses all else with a reason."""

import asyncio
import logging
import time
from dataclasses import dataclass
from typing import Protocol

import h11

from contracts.language import Language
from contracts.texts import sandbox as texts
from sandbox.grants import Grants
from sandbox.pumping import Counts, Reader, Writer, relay, tunnel
from sandbox.resolving import Open, Refused, Resolve, decide, system_resolve
from sandbox.targets import Target, target_of

HEAD_SECONDS = 20.0
CONNECT_SECONDS = 12.0
MOST_CONNECTIONS = 128
PIECE_BYTES = 65_536
REASONS = {400: b"Bad Request", 403: b"Forbidden", 502: b"Bad Gateway", 503: b"Service Unavailable"}

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class EgressRecord:
    """One request for the audit, written when it has ended."""

    host: str
    port: int
    method: str
    allowed: bool
    reason: str
    """Such as `allowed`, `not_allowed`, `not_public`, `no_address`, `unreachable`, `bad_request`, `busy`."""
    bytes_up: int
    bytes_down: int
    seconds: float


class OnRequest(Protocol):
    """Takes the audit record of a request; it must not block."""

    def __call__(self, record: EgressRecord, /) -> None: ...


class EgressProxy:
    """The proxy of one sandbox; `serve` handles one connection, wherever it comes from."""

    def __init__(
        self,
        grants: Grants,
        on_request: OnRequest,
        *,
        resolve: Resolve = system_resolve,
        language: Language = "en",
    ) -> None:
        self.grants = grants
        self._on_request = on_request
        self._resolve = resolve
        self._language: Language = language
        self._open = 0

    async def serve(self, reader: Reader, writer: Writer) -> None:
        """One request, then the end: each has its own connection, so that none can hide behind another."""
        self._open += 1
        try:
            await self._serve(reader, writer)
        except (OSError, TimeoutError, h11.ProtocolError, EOFError) as error:
            log.debug("a connection of the egress proxy broke: %s", error)
        finally:
            self._open -= 1
            writer.close()

    async def _serve(self, reader: Reader, writer: Writer) -> None:
        began, counts = time.monotonic(), Counts()
        client = h11.Connection(h11.SERVER)
        target = await _asked(client, reader)
        verdict = await self._verdict(target)
        code = "allowed"
        try:
            if isinstance(verdict, Open) and target is not None:
                code = await self._pass(client, reader, writer, target, verdict, counts)
            elif isinstance(verdict, Refused):
                code = verdict.code
                await _answer(writer, verdict)
        finally:
            host, port, method = (target.host, target.port, target.method) if target else ("", 0, "")
            self._on_request(
                EgressRecord(
                    host=verdict.host if isinstance(verdict, Open) else host,
                    port=port,
                    method=method,
                    allowed=isinstance(verdict, Open),
                    reason=code,
                    bytes_up=counts.up,
                    bytes_down=counts.down,
                    seconds=time.monotonic() - began,
                )
            )

    async def _verdict(self, target: Target | None) -> Open | Refused:
        if target is None:
            return Refused("bad_request", texts.EGRESS_BAD_REQUEST.say(self._language), 400)
        if self._open > MOST_CONNECTIONS:
            return Refused("busy", texts.EGRESS_BUSY.say(self._language, count=MOST_CONNECTIONS), 503)
        return await decide(self.grants, target.host, target.port, self._resolve, self._language)

    async def _pass(
        self, client: h11.Connection, reader: Reader, writer: Writer, target: Target, way: Open, counts: Counts
    ) -> str:
        upstream = await _reached(way)
        if upstream is None:
            text = texts.EGRESS_UNREACHABLE.say(self._language, host=way.host, port=target.port)
            await _answer(writer, Refused("unreachable", text, 502))
            return "unreachable"
        far_reader, far_writer = upstream
        try:
            if target.request is None:
                writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
                await tunnel(client.trailing_data[0], reader, writer, far_reader, far_writer, counts)
            else:
                await relay(client, target.request, reader, writer, far_reader, far_writer, counts)
        finally:
            far_writer.close()
        return "allowed"


async def _asked(client: h11.Connection, reader: Reader) -> Target | None:
    """The first request of a connection, or None if it is none that a proxy could serve."""
    try:
        async with asyncio.timeout(HEAD_SECONDS):
            while (event := client.next_event()) is h11.NEED_DATA:
                client.receive_data(await reader.read(PIECE_BYTES))
    except h11.RemoteProtocolError:
        return None
    return target_of(event) if isinstance(event, h11.Request) else None


async def _reached(way: Open) -> tuple[asyncio.StreamReader, asyncio.StreamWriter] | None:
    for address, port in way.addresses:
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                return await asyncio.open_connection(address, port)
        except (OSError, TimeoutError):
            continue
    return None


async def _answer(writer: Writer, refused: Refused) -> None:
    body = f"{refused.text}\n".encode()
    head = (
        b"HTTP/1.1 %d %s\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: %d\r\n"
        b"X-Asos-Reason: %s\r\nConnection: close\r\n\r\n"
    ) % (refused.status, REASONS[refused.status], len(body), refused.code.encode("ascii"))
    writer.write(head + body)
    await writer.drain()
