"""A terminal in a sandbox: a login shell behind a pseudo-terminal, over SSH."""

import shlex
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

import asyncssh

from sandbox.asking import ENVIRONMENT

KIND = "xterm-256color"
MARK = "ASOS_PART"
"""In the environment of what runs here, so that it does not end with somebody's command."""


class Terminal:
    """Keys go in, what is to be shown comes out."""

    def __init__(self, process: "asyncssh.SSHClientProcess[bytes]") -> None:
        self._process = process

    async def read(self, size: int = 65_536) -> bytes:
        """What came, at most so much; empty at the end. Raises: asyncssh.Error, OSError."""
        return await self._process.stdout.read(size)

    async def write(self, keys: bytes) -> None:
        """Raises: OSError if the terminal has ended."""
        self._process.stdin.write(keys)
        await self._process.stdin.drain()

    def resize(self, columns: int, rows: int) -> None:
        self._process.change_terminal_size(columns, rows)

    async def wait(self) -> int | None:
        """Its exit code, or None if a signal ended it."""
        await self._process.wait_closed()
        return self._process.exit_status


@asynccontextmanager
async def terminal(
    ssh: asyncssh.SSHClientConnection, columns: int, rows: int, env: Mapping[str, str] | None = None
) -> AsyncIterator[Terminal]:
    """Open one; what runs in it is hung up at the end."""
    values = ENVIRONMENT | {MARK: "1", "TERM": KIND} | dict(env or {})
    words = " ".join(f"{name}={shlex.quote(value)}" for name, value in values.items())
    process = await ssh.create_process(
        f"cd /workspace; exec env {words} bash -il",
        term_type=KIND,
        term_size=(columns, rows),
        encoding=None,
        stderr=asyncssh.STDOUT,
    )
    try:
        yield Terminal(process)
    finally:
        process.close()
        await process.wait_closed()
