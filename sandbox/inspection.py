"""Opens the encrypted traffic of hosts that the person listed: ends it here, and begins it anew to the real server."""

import asyncio
import os
import ssl
from collections import OrderedDict
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from sandbox.addresses import is_number
from sandbox.authority import Authority
from sandbox.pumping import PIECE_BYTES, Reader, Writer, send

HANDSHAKE_SECONDS = 20.0
MOST_CONTEXTS = 512
PROTOCOLS = ["http/1.1"]


class Inspection:
    """The two ends of opened connections, and the certificates for the near one."""

    def __init__(self, authority: Authority) -> None:
        self._authority = authority
        self._near: OrderedDict[str, tuple[ssl.SSLContext, datetime]] = OrderedDict()
        self._far: dict[str | None, tuple[int, ssl.SSLContext]] = {}

    @property
    def certificate(self) -> bytes:
        """What sandboxes must trust, in PEM."""
        return self._authority.certificate

    async def accepted(self, host: str, early: bytes, reader: Reader, writer: Writer) -> "Opened":
        """The sandbox's end, after the handshake. Raises: OSError (also for TLS), TimeoutError, EOFError."""
        context = await self._context_for(host)
        opened = Opened(context, early, reader, writer)
        async with asyncio.timeout(HANDSHAKE_SECONDS):
            await opened.shake_hands()
        return opened

    async def far_context(self, authorities: str | None) -> ssl.SSLContext:
        """For the server's end: the system's store, and the authorities of this file. Raises: OSError."""
        return await asyncio.to_thread(self._far_context, authorities)

    def _far_context(self, authorities: str | None) -> ssl.SSLContext:
        mark = Path(authorities).stat().st_mtime_ns if authorities else 0
        known = self._far.get(authorities)
        if known is not None and known[0] == mark:
            return known[1]
        context = ssl.create_default_context()
        if authorities:
            context.load_verify_locations(cafile=authorities)
        context.set_alpn_protocols(PROTOCOLS)
        self._far = {authorities: (mark, context)}
        return context

    async def _context_for(self, host: str) -> ssl.SSLContext:
        known = self._near.get(host)
        if known is None or known[1] < datetime.now(UTC):
            known = await asyncio.to_thread(_near_context, self._authority, host)
            self._near[host] = known
        self._near.move_to_end(host)
        while len(self._near) > MOST_CONTEXTS:
            self._near.popitem(last=False)
        return known[0]


class Opened:
    """TLS over a pair of streams, itself such a pair: the sandbox believes that it speaks with the host."""

    def __init__(self, context: ssl.SSLContext, early: bytes, reader: Reader, writer: Writer) -> None:
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._incoming.write(early)
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_side=True)
        self._reader = reader
        self._writer = writer

    async def shake_hands(self) -> None:
        while True:
            try:
                self._tls.do_handshake()
            except ssl.SSLWantReadError:
                await self._more()
            except ssl.SSLError:
                self._flush()  # the alert that says why
                raise
            else:
                await send(self._writer, self._outgoing.read())
                return

    async def read(self, n: int = PIECE_BYTES, /) -> bytes:
        while True:
            try:
                return self._tls.read(n)
            except ssl.SSLWantReadError:
                await self._more()
            except (ssl.SSLZeroReturnError, ssl.SSLEOFError):
                return b""

    def write(self, data: bytes, /) -> None:
        self._tls.write(data)
        self._flush()

    async def drain(self) -> None:
        await self._writer.drain()

    def write_eof(self) -> None:
        """Say that nothing more comes, in TLS and below it."""
        with suppress(ssl.SSLError):  # the other end has not said so yet, or is gone
            self._tls.unwrap()
        self._flush()
        self._writer.write_eof()

    def close(self) -> None:
        self._writer.close()

    async def _more(self) -> None:
        self._flush()
        piece = await self._reader.read(PIECE_BYTES)
        if piece:
            self._incoming.write(piece)
        else:
            self._incoming.write_eof()

    def _flush(self) -> None:
        if waiting := self._outgoing.read():
            self._writer.write(waiting)


def _near_context(authority: Authority, host: str) -> tuple[ssl.SSLContext, datetime]:
    pem, renew_at = authority.vouch(host)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.options |= ssl.OP_NO_RENEGOTIATION
    context.set_alpn_protocols(PROTOCOLS)
    # The library reads certificates from files only; this one lies in memory.
    descriptor = os.memfd_create("certificate", os.MFD_CLOEXEC)
    try:
        os.write(descriptor, pem)
        context.load_cert_chain(f"/proc/self/fd/{descriptor}")
    finally:
        os.close(descriptor)
    context.sni_callback = _NameCheck(host)
    return context, renew_at


class _NameCheck:
    """Refuses a handshake that asks for another host than the tunnel was opened for."""

    def __init__(self, host: str) -> None:
        self._host = host

    def __call__(self, _tls: object, named: str | None, _context: ssl.SSLContext) -> int | None:
        if named is None:
            return None if is_number(self._host) else ssl.ALERT_DESCRIPTION_UNRECOGNIZED_NAME
        same = named.lower().removesuffix(".") == self._host
        return None if same else ssl.ALERT_DESCRIPTION_UNRECOGNIZED_NAME
