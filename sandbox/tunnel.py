"""Lets asyncssh speak over a socket that an engine handed out, framed or not."""

import asyncio
from collections.abc import Callable
from typing import cast

from sandbox.driver import Attached

HEADER_BYTES = 8
STANDARD_OUTPUT = 1
KEPT_ERROR_BYTES = 2_048


class Tunnel:
    """What asyncssh calls a tunnel: it asks for one connection and is given the engine's stream."""

    def __init__(self, attached: Attached, preface: bytes) -> None:
        self._attached = attached
        self._preface = preface
        self.complaint = b""
        """What the far end wrote to its standard error, cut to its end."""

    async def create_connection(
        self, session_factory: Callable[[], asyncio.Protocol], host: str, port: int
    ) -> tuple[asyncio.Transport, asyncio.Protocol]:
        session = session_factory()
        transport, _ = await asyncio.get_running_loop().create_connection(
            lambda: _Unframing(session, self._attached, self._preface, self._complain), sock=self._attached.socket
        )
        return transport, session

    def _complain(self, text: bytes) -> None:
        self.complaint = (self.complaint + text)[-KEPT_ERROR_BYTES:]


class _Unframing(asyncio.Protocol):
    """Sends the preface, then passes everything on to the SSH connection, without the engine's headers."""

    def __init__(
        self, session: asyncio.Protocol, attached: Attached, preface: bytes, complain: Callable[[bytes], None]
    ) -> None:
        self._session = session
        self._framed = attached.framed
        self._early = attached.received
        self._preface = preface
        self._complain = complain
        self._pending = bytearray()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        cast(asyncio.Transport, transport).write(self._preface)
        self._session.connection_made(transport)
        if self._early:
            self.data_received(self._early)

    def data_received(self, data: bytes) -> None:
        if not self._framed:
            self._session.data_received(data)
            return
        self._pending += data
        while (frame := self._take_frame()) is not None:
            kind, payload = frame
            if kind == STANDARD_OUTPUT:
                self._session.data_received(payload)
            else:
                self._complain(payload)

    def _take_frame(self) -> tuple[int, bytes] | None:
        if len(self._pending) < HEADER_BYTES:
            return None
        end = HEADER_BYTES + int.from_bytes(self._pending[4:HEADER_BYTES], "big")
        if len(self._pending) < end:
            return None
        kind, payload = self._pending[0], bytes(self._pending[HEADER_BYTES:end])
        del self._pending[:end]
        return kind, payload

    def eof_received(self) -> bool | None:
        return self._session.eof_received()

    def connection_lost(self, exc: Exception | None) -> None:
        self._session.connection_lost(exc)

    def pause_writing(self) -> None:
        self._session.pause_writing()

    def resume_writing(self) -> None:
        self._session.resume_writing()
