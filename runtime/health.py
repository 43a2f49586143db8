"""A health page on loopback: GET /health gives 200 or 503 and a JSON object."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from pydantic import Field

from contracts.values import JsonObject, Value

REQUEST_SECONDS = 5.0
REQUEST_BYTES = 8_192


class Health(Value):
    """Whether a process does its work, with what a person may want to know."""

    healthy: bool
    detail: JsonObject = Field(default_factory=dict)


Report = Callable[[], Health]
"""Asked at every request, on the event loop: it must answer at once."""


@asynccontextmanager
async def serve_health(port: int, report: Report) -> AsyncIterator[int]:
    """Serve while the block runs; yields the port, a free one for 0. Raises: OSError if the port is in use."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(REQUEST_SECONDS):
                request = await reader.readuntil(b"\r\n\r\n")
                writer.write(_response(request, report))
                await writer.drain()
        except (TimeoutError, OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            # Whoever asks badly gets no answer; the page itself goes on.
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", port, limit=REQUEST_BYTES)
    async with server:
        yield server.sockets[0].getsockname()[1]


def _response(request: bytes, report: Report) -> bytes:
    method, _, rest = request.partition(b" ")
    path = rest.partition(b" ")[0].partition(b"?")[0]
    if path != b"/health":
        return _rendered("404 Not Found", {"error": "only /health is here"})
    if method not in (b"GET", b"HEAD"):
        return _rendered("405 Method Not Allowed", {"error": "only GET is answered"})
    health = report()
    return _rendered("200 OK" if health.healthy else "503 Service Unavailable", health.model_dump(mode="json"))


def _rendered(status: str, content: JsonObject) -> bytes:
    body = json.dumps(content).encode()
    fields = (
        f"HTTP/1.1 {status}",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
        "Connection: close",
    )
    return "\r\n".join((*fields, "", "")).encode() + body
