"""Connects to a place that was decided upon."""

import asyncio
import ssl
from collections.abc import Sequence

CONNECT_SECONDS = 12.0


class Far:
    """The connection to the server."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer
        peer = writer.get_extra_info("peername")
        self.address = str(peer[0]) if peer else ""


async def reached(addresses: Sequence[tuple[str, int]], host: str, context: ssl.SSLContext | None) -> Far | None:
    """A connection to one of the addresses, or None. Raises: ssl.SSLError if the server cannot prove its name."""
    for address, port in addresses:
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                name = host if context else None
                return Far(*await asyncio.open_connection(address, port, ssl=context, server_hostname=name))
        except ssl.SSLError:
            raise
        except (OSError, TimeoutError):
            continue
    return None
