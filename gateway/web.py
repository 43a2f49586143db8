"""Serves the gateway's HTTP on one loopback port while a block runs."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import uvicorn
from fastapi import FastAPI

STOP_SECONDS = 3


class PortInUse(Exception):
    """Raised when the port belongs to another program; the text names it and the remedy."""


class _Server(uvicorn.Server):
    """Leaves signals to the process that it is a part of."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@asynccontextmanager
async def serve(app: FastAPI, port: int) -> AsyncIterator[int]:
    """Yields the port, a free one for 0. Raises: PortInUse."""
    listening = _listen(port)
    config = uvicorn.Config(
        app, log_config=None, access_log=False, lifespan="off", timeout_graceful_shutdown=STOP_SECONDS
    )
    server = _Server(config)
    task = asyncio.create_task(server.serve(sockets=[listening]))
    try:
        yield listening.getsockname()[1]
    finally:
        server.should_exit = True
        await task
        listening.close()


def _listen(port: int) -> socket.socket:
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind(("127.0.0.1", port))
        listening.listen()
    except OSError as error:
        listening.close()
        raise PortInUse(f"port {port} of 127.0.0.1 is in use; set ASOS_GATEWAY_PORT to another") from error
    return listening
