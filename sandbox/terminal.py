"""A program in the sandbox that a person speaks with: at a terminal of its own, or through plain pipes."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated

from pydantic import Field

from contracts.sandbox import SandboxLost
from contracts.values import Value
from sandbox.asking import ENVIRONMENT
from sandbox.exchange import Exchange, FarEndRefused, LinkBroken
from sandbox.inside.wire import OUTPUT, PIECE, SPOKEN
from sandbox.link import Link

KIND = "xterm-256color"
MARK = "ASOS_PART"
"""In the environment of what runs here, so that it does not end with somebody's command."""
MOST_CELLS = 10_000
SHELL = ("/bin/bash",)
"""Not a login shell: its profile would put another PATH in place of the one that commands have."""


class Left(Value):
    """How the program ended; after a signal, as a shell says it."""

    code: Annotated[int, Field(ge=0, le=255)]


class Terminal:
    """One running program: what is typed goes in, what it says comes out."""

    def __init__(self, link: Link, exchange: Exchange, *, piped: bool) -> None:
        self._link = link
        self._exchange = exchange
        self._piped = piped
        self._stream = OUTPUT
        self._left = 0
        """How much is still to come of the present piece of that stream."""

    async def read(self) -> bytes:
        """What it said, at least one byte; empty at the end. Raises: SandboxLost."""
        return (await self.heard())[1]

    async def heard(self) -> tuple[int, bytes]:
        """The same, with the number of the stream; a terminal has only one. Raises: SandboxLost."""
        try:
            if not self._piped:
                return OUTPUT, await self._exchange.read(PIECE)
            if not self._left and not await self._begun():
                return OUTPUT, b""
            piece = await self._exchange.read(self._left)
        except LinkBroken as error:
            raise _lost(error) from error
        self._left -= len(piece)
        return self._stream, piece

    async def write(self, keys: bytes) -> None:
        """A program that has ended takes nothing, which is no error. Raises: SandboxLost."""
        try:
            self._exchange.write(keys)
            await self._exchange.drain()
        except LinkBroken as error:
            raise _lost(error) from error

    def end_input(self) -> None:
        """Nothing more will be written. At a terminal a person types Ctrl-D for that."""
        if self._piped:
            self._exchange.write_eof()

    def resize(self, columns: int, rows: int) -> None:
        if not self._link.lost and not self._piped:
            asked = {"do": "resize", "terminal": self._exchange.number} | _size(columns, rows)
            self._link.ask(asked)

    async def wait(self) -> int:
        """Its exit code. Raises: SandboxLost."""
        try:
            return (await self._exchange.answer(Left))[0].code
        except (LinkBroken, FarEndRefused) as error:
            raise _lost(error) from error

    async def _begun(self) -> bool:
        """Read how the next piece begins; False at the end. Raises: LinkBroken."""
        head = b""
        while len(head) < SPOKEN.size:
            more = await self._exchange.read(SPOKEN.size - len(head))
            if not more:
                return False
            head += more
        self._stream, self._left = SPOKEN.unpack(head)
        return True


@asynccontextmanager
async def terminal(link: Link, columns: int, rows: int, command: tuple[str, ...] = ()) -> AsyncIterator[Terminal]:
    """A shell, or a command; without columns behind plain pipes. What runs in it is hung up at the end.

    Raises: LinkBroken."""
    values = ENVIRONMENT | {MARK: "1", "TERM": KIND}
    asked: dict[str, object] = {
        "do": "terminal" if columns else "program",
        "argv": [word.encode("utf-8", "surrogateescape") for word in command or SHELL],
        "env": {name.encode(): value.encode() for name, value in values.items()},
        "cwd": b"/workspace",
    }
    exchange = link.ask(asked | (_size(columns, rows) if columns else {}))
    try:
        yield Terminal(link, exchange, piped=not columns)
    finally:
        exchange.reset()


def _size(columns: int, rows: int) -> dict[str, object]:
    return {"columns": min(max(columns, 1), MOST_CELLS), "rows": min(max(rows, 1), MOST_CELLS)}


def _lost(error: Exception) -> SandboxLost:
    return SandboxLost(f"the terminal is lost: {error}")
