"""Reads the head of a request so strictly that no two programs could read it differently."""

import asyncio
import re
from dataclasses import dataclass

import h11

from sandbox.pumping import PIECE_BYTES, Reader

HEAD_BYTES = 65_536
HEAD_SECONDS = 20.0
IDLE_SECONDS = 120.0
"""How long a connection may lie idle before its next request begins."""

END = b"\r\n\r\n"
LOOSE = re.compile(rb"(?<!\r)\n|\r[^\n]|\0|\n[ \t]")
"""A line that ends in half a line end, or goes on in the next one."""


class BadHead(Exception):
    """Raised when what was sent is no request, or one that could be read in two ways."""


@dataclass
class Asked:
    """A request whose content is still to be read."""

    client: h11.Connection
    request: h11.Request

    @property
    def rest(self) -> bytes:
        """What was read beyond this request, once it has been read to its end."""
        return self.client.trailing_data[0]

    def ends_here(self) -> bool:
        """Whether it has no content and its connection may take another request; it is then read to its end."""
        framed = (b"transfer-encoding", b"content-length")
        if self.request.http_version == b"1.0" or any(name in framed for name, _ in self.request.headers):
            return False
        return isinstance(self.client.next_event(), h11.EndOfMessage) and self.client.their_state is h11.DONE


async def asked(reader: Reader, held: bytes) -> Asked | None:
    """The next request of a connection, which may have begun in `held`; None at its end. Raises: BadHead."""
    raw = await _raw_head(reader, held)
    if raw is None:
        return None
    head = raw[: raw.index(END) + 2]
    _refuse_double_meaning(head)
    client = h11.Connection(h11.SERVER, max_incomplete_event_size=HEAD_BYTES)
    try:
        client.receive_data(raw)
        event = client.next_event()
    except h11.RemoteProtocolError as error:
        raise BadHead(str(error)) from error
    if not isinstance(event, h11.Request):
        raise BadHead("no request")
    is_older = event.http_version == b"1.0"
    if not is_older and event.http_version != b"1.1":
        raise BadHead("neither HTTP/1.1 nor HTTP/1.0")
    if is_older and any(name == b"transfer-encoding" for name, _ in event.headers):
        raise BadHead("HTTP/1.0 knows no transfer encoding")
    return Asked(client, event)


async def _raw_head(reader: Reader, held: bytes) -> bytes | None:
    try:
        if not held:
            async with asyncio.timeout(IDLE_SECONDS):
                held = await reader.read(PIECE_BYTES)
        async with asyncio.timeout(HEAD_SECONDS):
            while END not in held:
                if len(held) > HEAD_BYTES or LOOSE.search(held):
                    raise BadHead("no head, or a very long one")
                piece = await reader.read(PIECE_BYTES)
                if not piece:
                    break
                held += piece
    except TimeoutError:
        held = held or b""
    if not held:
        return None
    if END not in held[: HEAD_BYTES + len(END)]:
        raise BadHead("the head has no end")
    return held


def _refuse_double_meaning(head: bytes) -> None:
    """Two lengths, a length beside chunks, folded lines, half line ends: what one reads as content, another reads as
    the next request."""
    if LOOSE.search(head):
        raise BadHead("half a line end, a folded line or a NUL")
    lines = [line.partition(b":") for line in head.split(b"\r\n")[1:]]
    lengths = [value for name, _, value in lines if name.strip().lower() == b"content-length"]
    codings = [value for name, _, value in lines if name.strip().lower() == b"transfer-encoding"]
    if len(lengths) > 1 or (lengths and b"," in lengths[0]) or len(codings) > 1 or (lengths and codings):
        raise BadHead("more than one length")
