"""Turns an HTTP request to a Docker engine into a raw byte stream.

The docker library does the same through a buffered reader and may lose bytes that arrive together with the answer.
"""

import asyncio
import socket
from urllib.parse import urlsplit

from sandbox.driver import Attached

ANSWER_SECONDS = 30.0
KNOCK_SECONDS = 5.0
LONGEST_ANSWER = 16_384


async def attached_to(address: str, container: str) -> Attached:
    """The standard input and output of a container's own process. Raises: OSError."""
    stream = await _connected(address)
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            received = await _start(stream, container)
    except BaseException:
        stream.close()
        raise
    return Attached(socket=stream, framed=True, received=received)


def knock(address: str) -> None:
    """See whether anything listens there, before the docker library leaves a socket open for each failure.

    Raises: OSError.
    """
    family, place = _place(address)
    with socket.socket(family, socket.SOCK_STREAM) as stream:
        stream.settimeout(KNOCK_SECONDS)
        stream.connect(place)


async def _connected(address: str) -> socket.socket:
    family, place = _place(address)
    stream = socket.socket(family, socket.SOCK_STREAM)
    try:
        stream.setblocking(False)
        await asyncio.get_running_loop().sock_connect(stream, place)
    except BaseException:
        stream.close()
        raise
    return stream


def _place(address: str) -> tuple[socket.AddressFamily, str | tuple[str, int]]:
    parts = urlsplit(address)
    if parts.scheme in ("tcp", "http") and parts.hostname:
        return socket.AF_INET, (parts.hostname, parts.port or 2375)
    if parts.scheme in ("unix", "http+unix"):
        return socket.AF_UNIX, parts.path
    raise OSError(f"engine address {address!r}: only unix:// and tcp:// can be attached to")


async def _start(stream: socket.socket, container: str) -> bytes:
    loop = asyncio.get_running_loop()
    head = (
        f"POST /containers/{container}/attach?stream=1&stdin=1&stdout=1&stderr=1 HTTP/1.1\r\nHost: docker\r\n"
        "Content-Length: 0\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n"
    )
    await loop.sock_sendall(stream, head.encode("ascii"))
    answer = b""
    while b"\r\n\r\n" not in answer:
        piece = await loop.sock_recv(stream, 4_096)
        if not piece or len(answer) > LONGEST_ANSWER:
            raise OSError(f"the engine ended the stream: {answer[:200]!r}")
        answer += piece
    header, _, rest = answer.partition(b"\r\n\r\n")
    if header.split(b" ", 2)[1] not in (b"101", b"200"):
        raise OSError(f"the engine refused the stream: {header[:100]!r} {rest[:200]!r}")
    return rest
