"""The host's end of the stream to a sandbox's agent. What comes from there is not trusted."""

import asyncio
import logging
import marshal
import secrets
from collections.abc import Awaitable, Callable
from typing import cast

from sandbox.driver import Attached
from sandbox.exchange import Exchange, LinkBroken
from sandbox.inside.wire import (
    MAGIC,
    MORE,
    NONCE_BYTES,
    OPEN,
    REPLY,
    REQUEST,
    Frames,
    Garbage,
    frame,
    packed,
    pieces,
)
from sandbox.unframing import Unframing

BEGIN_SECONDS = 30.0
PING_SECONDS = 10.0
SILENT_SECONDS = 45.0
"""After so long without a word, while something is awaited, the stream counts as broken."""
MOST_OPENED = 512

Serve = Callable[[Exchange, Exchange], Awaitable[None]]
"""Serves a connection from inside: what to read from, and what to write to."""

log = logging.getLogger(__name__)


class Link(asyncio.Protocol):
    """One conversation with an agent."""

    def __init__(self, attached: Attached, serve: Serve) -> None:
        self._attached = attached
        self._serve = serve
        self._mark = MAGIC + secrets.token_hex(NONCE_BYTES // 2).encode("ascii")
        self._unframing = Unframing(attached.framed)
        self._early: bytes | None = b""
        self._frames = Frames()
        self._loop = asyncio.get_running_loop()
        self._begun: asyncio.Future[None] = self._loop.create_future()
        self._ended: asyncio.Future[None] = self._loop.create_future()
        self._transport: asyncio.Transport | None = None
        self._exchanges: dict[int, Exchange] = {}
        self._served: set[asyncio.Task[None]] = set()
        self._number = 1
        self._heard = self._loop.time()
        self._ping: asyncio.TimerHandle | None = None
        self._why = "the stream to the agent has ended"
        self.frozen = False
        """True while the sandbox is: then its silence means nothing."""
        self.paused = False

    @classmethod
    async def opened(cls, attached: Attached, serve: Serve) -> "Link":
        """Raises: LinkBroken."""
        link = cls(attached, serve)
        try:
            async with asyncio.timeout(BEGIN_SECONDS):
                await link._loop.create_connection(lambda: link, sock=attached.socket)
                await asyncio.shield(link._begun)
        except (OSError, TimeoutError) as error:
            await link.close()
            complaint = link._unframing.complaint.decode("utf-8", "replace").strip()
            raise LinkBroken(
                f"the agent does not answer: {error or type(error).__name__} {complaint}".strip()
            ) from error
        except BaseException:
            await link.close()
            raise
        return link

    @property
    def lost(self) -> bool:
        return self._ended.done()

    def ask(
        self, asked: dict[str, object], body: bytes = b"", on_event: Callable[[bytes], None] | None = None
    ) -> Exchange:
        """Raises: LinkBroken."""
        if self.lost:
            raise LinkBroken(self._why)
        self._number += 2
        exchange = self._exchanges[self._number] = Exchange(self, self._number, on_event)
        *most, last = pieces(packed(marshal.dumps(asked, 2), body))
        for piece in most:
            self.send(MORE, exchange.number, piece)
        self.send(REQUEST, exchange.number, last)
        return exchange

    def thaw(self) -> None:
        self.frozen, self._heard = False, self._loop.time()

    async def close(self) -> None:
        self.abort("it was closed here")
        if self._transport is None:
            self._attached.socket.close()
        else:
            await self._ended
        for task in list(self._served):
            task.cancel()
        await asyncio.gather(*self._served, return_exceptions=True)

    def send(self, kind: int, number: int, payload: bytes = b"") -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(frame(kind, number, payload))

    def forget(self, number: int) -> None:
        self._exchanges.pop(number, None)

    def abort(self, why: str) -> None:
        if self._transport is not None and not self.lost:
            self._why = why
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._transport.write(self._attached.preface + self._mark)
        self._ping = self._loop.call_later(PING_SECONDS, self._see_if_alive)
        if self._attached.received:
            self.data_received(self._attached.received)

    def data_received(self, data: bytes) -> None:
        self._heard = self._loop.time()
        try:
            for piece in self._unframing.feed(data):
                self._hear(piece)
        except (Garbage, LinkBroken) as error:
            log.warning("the agent of a sandbox says what none would: %s", error)
            self.abort(str(error))

    def connection_lost(self, exc: Exception | None) -> None:
        if self._ping is not None:
            self._ping.cancel()
        error = LinkBroken(str(exc) if exc else self._why)
        if not self._begun.done():
            self._begun.set_exception(error)
            self._begun.exception()  # whoever waited may have given up
        for exchange in self._exchanges.values():
            exchange.fail(error)
        self._exchanges.clear()
        self._ended.set_result(None)

    def pause_writing(self) -> None:
        self.paused = True

    def resume_writing(self) -> None:
        self.paused = False
        for exchange in list(self._exchanges.values()):
            exchange.push()

    def _hear(self, piece: bytes) -> None:
        """Raises: Garbage, LinkBroken."""
        if self._early is not None:
            self._early += piece
            before, found, after = self._early.partition(self._mark)
            if not found:
                self._early = before[-len(self._mark) :]
                return
            self._early, piece = None, after
        for kind, number, payload in self._frames.feed(piece):
            self._act(kind, number, payload)

    def _act(self, kind: int, number: int, payload: bytes) -> None:
        if kind == OPEN:
            self._serve_opened(number)
        elif kind == REPLY:
            if number == 0 and not self._begun.done():
                self._begun.set_result(None)
            elif exchange := self._exchanges.pop(number, None):
                exchange.conclude(payload)
        elif kind in (REQUEST, MORE):
            raise Garbage("a request from an agent")
        elif exchange := self._exchanges.get(number):
            exchange.hear(kind, payload)

    def _serve_opened(self, number: int) -> None:
        if number % 2 or number in self._exchanges or len(self._served) >= MOST_OPENED:
            raise Garbage("a connection that cannot be")
        exchange = self._exchanges[number] = Exchange(self, number)
        task = asyncio.create_task(self._served_one(exchange), name="egress of a sandbox")
        self._served.add(task)
        task.add_done_callback(self._served.discard)

    async def _served_one(self, exchange: Exchange) -> None:
        try:
            await self._serve(exchange, exchange)
        finally:
            exchange.close()

    def _see_if_alive(self) -> None:
        silent = self._loop.time() - self._heard
        if self._exchanges and not self.frozen:
            if silent > SILENT_SECONDS:
                return self.abort(f"the agent has said nothing for {silent:.0f} s")
            if silent > PING_SECONDS / 2:
                self.send(REQUEST, 1, packed(marshal.dumps({"do": "ping"}, 2)))
        elif self.frozen or not self._exchanges:
            self._heard = self._loop.time()
        self._ping = self._loop.call_later(PING_SECONDS, self._see_if_alive)
        return None
