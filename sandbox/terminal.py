"""A program in the sandbox that a person speaks with: at a terminal of its own, or through plain pipes."""

import asyncio
import shlex
import struct
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import cache

import asyncssh

from contracts.sandbox import SandboxLost
from sandbox.asking import ENVIRONMENT
from sandbox.far_end import far_end
from sandbox.transport import LINK_ERRORS

TERM = "xterm-256color"
FRAME = struct.Struct(">cI")
LOADER = """import os
b = b""
while len(b) < {size}:
    b += os.read(0, {size} - len(b)) or os._exit(0)
exec(b)
"""
"""Takes the program from its standard input: as an argument it would fill every list of processes."""
PIECE_BYTES = 65_536
END_SECONDS = 2.0
"""What a program gets to end by itself once nobody speaks with it any more."""

SIGNALLED = 128
"""A shell's way to say which signal ended a program: this and the signal's number."""


class Terminal:
    """One running program."""

    def __init__(self, process: "asyncssh.SSHClientProcess[bytes]", *, framed: bool) -> None:
        self._process = process
        self._framed = framed

    async def read(self) -> bytes:
        """What it wrote, at least one byte; b"" at the end. Raises: SandboxLost."""
        return await _piece(self._process.stdout)

    async def read_errors(self) -> bytes:
        """What it wrote to its standard error; at a terminal that is in `read`. Raises: SandboxLost."""
        return await _piece(self._process.stderr)

    async def write(self, data: bytes) -> None:
        """A program that has ended takes nothing, which is no error. Raises: SandboxLost."""
        with suppress(BrokenPipeError), _told():
            self._send(b"d", data)
            await self._process.stdin.drain()

    def end_input(self) -> None:
        """Nothing more will be written; at a terminal this hangs up, and a person types Ctrl-D instead."""
        with suppress(OSError):
            self._process.stdin.write_eof()

    def resize(self, columns: int, rows: int) -> None:
        """Only at a terminal."""
        with suppress(OSError):
            self._send(b"s", struct.pack("=4H", rows, columns, 0, 0))

    async def wait(self) -> int:
        """Its exit code, once it has ended. Raises: SandboxLost."""
        await self._process.wait_closed()
        code = self._process.returncode
        if code is None:
            raise SandboxLost("the connection to the sandbox ended before the program")
        return code if code >= 0 else SIGNALLED - code

    def _send(self, kind: bytes, content: bytes) -> None:
        self._process.stdin.write(FRAME.pack(kind, len(content)) + content if self._framed else content)


@asynccontextmanager
async def opened(
    ssh: asyncssh.SSHClientConnection, columns: int, rows: int, command: tuple[str, ...]
) -> AsyncIterator[Terminal]:
    """A terminal of this size with a shell, or with a command; without columns there is no terminal but pipes. Leaving
    ends the program. Raises: SandboxLost."""
    with _told():
        process = await ssh.create_process(_line(columns, rows, command), encoding=None)
        if columns:
            process.stdin.write(_program())
    try:
        yield Terminal(process, framed=columns > 0)
    finally:
        await _end(process)


def _line(columns: int, rows: int, command: tuple[str, ...]) -> str:
    """The environment of commands; the mark keeps the killing of a command away from what runs here."""
    argv = command or ("bash",)
    if columns:
        argv = ("python3", "-I", "-c", LOADER.format(size=len(_program())), str(columns), str(rows), *argv)
    exports = " ".join(f"{name}={shlex.quote(value)}" for name, value in (ENVIRONMENT | {"TERM": TERM}).items())
    return (
        "unset SSH_CLIENT SSH_CONNECTION SSH_TTY MAIL OLDPWD; "
        f"export ASOS_PART=terminal {exports}; cd /workspace; exec {shlex.join(argv)}"
    )


@cache
def _program() -> bytes:
    return far_end("terminal.py").encode()


async def _end(process: "asyncssh.SSHClientProcess[bytes]") -> None:
    """Hang up; a program behind pipes would not notice, and is told by a signal."""
    with suppress(OSError, asyncssh.Error):
        if process.returncode is None:
            process.send_signal("HUP")
    process.close()
    with suppress(TimeoutError, asyncssh.Error, OSError):
        async with asyncio.timeout(END_SECONDS):
            await process.wait_closed()


async def _piece(stream: "asyncssh.SSHReader[bytes]") -> bytes:
    with _told():
        return await stream.read(PIECE_BYTES)


@contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise
    except LINK_ERRORS as error:
        raise SandboxLost(f"the connection to the sandbox broke: {error}") from error
