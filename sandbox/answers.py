"""What the proxy itself answers: a refusal with its reason, in words and in a header."""

import asyncio
from contextlib import suppress
from http import HTTPStatus

from sandbox.pumping import PIECE_BYTES, Reader, Writer, send
from sandbox.rules import Refused

LINGER_SECONDS = 2.0
LINGER_BYTES = 1_048_576


async def refuse(writer: Writer, refused: Refused, *, keep: bool, head_only: bool = False) -> None:
    """Answer; with `keep` the connection may take a further request."""
    body = f"{refused.text}\n".encode()
    lines = [
        f"HTTP/1.1 {refused.status} {HTTPStatus(refused.status).phrase}",
        "Content-Type: text/plain; charset=utf-8",
        f"Content-Length: {len(body)}",
        f"X-Asos-Reason: {refused.code}",
        *([f"Retry-After: {refused.retry_after}"] if refused.retry_after else []),
        "Connection: keep-alive" if keep else "Connection: close",
    ]
    await send(writer, "\r\n".join([*lines, "", ""]).encode() + (b"" if head_only else body))


async def linger(reader: Reader, writer: Writer) -> None:
    """Take some of what is still being sent: a connection closed under a sender loses the answer to it."""
    with suppress(OSError, TimeoutError):
        writer.write_eof()
        async with asyncio.timeout(LINGER_SECONDS):
            taken = 0
            while taken < LINGER_BYTES and (piece := await reader.read(PIECE_BYTES)):
                taken += len(piece)
