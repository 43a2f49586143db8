"""Serves an application over HTTP on a port of loopback, and where it is wanted on a further address, for a block."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager

import uvicorn
from fastapi import FastAPI

LOOPBACK = "127.0.0.1"
LOOPBACK_NAMES = frozenset({LOOPBACK, "localhost", "[::1]"})
STOP_SECONDS = 3
FRAME_BYTES = 1_048_576
"""Of a web socket; larger ones end the connection."""


class PortInUse(Exception):
    """Raised when the port belongs to another program; the text names it and the remedy."""


class _Server(uvicorn.Server):
    """Leaves signals to the process that it is a part of."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@asynccontextmanager
async def serve(app: FastAPI, port: int, *, setting: str, also: str = "") -> AsyncIterator[int]:
    """Yields the port, a free one for 0; `setting` names what the person may change, `also` a further address of this
    machine. Raises: PortInUse."""
    with ExitStack() as owned:
        listening = owned.enter_context(_listen(LOOPBACK, port, setting))
        port = listening.getsockname()[1]
        sockets = [listening, *([owned.enter_context(_listen(also, port, setting))] if also else [])]
        config = uvicorn.Config(
            app,
            log_config=None,
            access_log=False,
            lifespan="off",
            ws="websockets-sansio",
            ws_max_size=FRAME_BYTES,
            timeout_graceful_shutdown=STOP_SECONDS,
        )
        server = _Server(config)
        task = asyncio.create_task(server.serve(sockets=sockets))
        try:
            yield port
        finally:
            server.should_exit = True
            await task


def _listen(address: str, port: int, setting: str) -> socket.socket:
    listening = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((address, port))
        listening.listen()
    except OSError as error:
        listening.close()
        cause = f"{error.strerror or error}; set {setting} to another"
        raise PortInUse(f"port {port} of {address} cannot be had: {cause}") from error
    return listening
