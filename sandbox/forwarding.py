"""A loopback port of the host that leads to a loopback port of a sandbox."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from contracts.sandbox import SandboxLost
from sandbox.link import Link
from sandbox.pumping import Counts, tunnel

log = logging.getLogger(__name__)


@asynccontextmanager
async def forwarded(port: int, ready: Callable[[], Awaitable[Link]]) -> AsyncIterator[int]:
    """Yields the host's port; each connection takes the link that is there at the time."""
    tasks: set[asyncio.Task[None]] = set()

    async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            exchange = (await ready()).ask({"do": "forward", "port": port})
            try:
                await tunnel(b"", reader, writer, exchange, exchange, Counts())
            finally:
                exchange.reset()
        except (SandboxLost, OSError, TimeoutError) as error:
            log.debug("a forwarded connection broke: %s", error)
        finally:
            writer.close()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(carry(reader, writer), name=f"forward to port {port} of a sandbox")
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        ending = list(tasks)
        for task in ending:
            task.cancel()
        await asyncio.gather(*ending, return_exceptions=True)
        await server.wait_closed()
