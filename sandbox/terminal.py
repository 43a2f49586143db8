"""A program in a sandbox that a person speaks with: at a pseudo-terminal of its own, or behind plain pipes."""

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import Annotated

from pydantic import Field

from contracts.sandbox import SandboxLost
from contracts.values import Value
from sandbox.asking import ENVIRONMENT
from sandbox.exchange import Exchange, FarEndRefused, LinkBroken
from sandbox.link import Link

KIND = "xterm-256color"
MARK = "ASOS_PART"
"""In the environment of what runs here, so that it does not end with somebody's command."""
MOST_CELLS = 10_000
PIECE_BYTES = 65_536


class Left(Value):
    """How the program ended, as a shell tells it."""

    code: Annotated[int, Field(ge=0, le=255)]


class Terminal:
    """Keys go in, what is to be shown comes out."""

    def __init__(self, link: Link, exchange: Exchange, errors: Exchange | None) -> None:
        self._link = link
        self._exchange = exchange
        self._errors = errors

    async def read(self, size: int = PIECE_BYTES) -> bytes:
        """What came, at most so much; empty at the end. Raises: SandboxLost."""
        with _told():
            return await self._exchange.read(size)

    async def read_errors(self, size: int = PIECE_BYTES) -> bytes:
        """What the program wrote to its standard error; at a terminal that is in `read`. Raises: SandboxLost."""
        if self._errors is None:
            return b""
        with _told():
            return await self._errors.read(size)

    async def write(self, keys: bytes) -> None:
        """A program that has ended takes nothing, which is no error. Raises: SandboxLost."""
        with _told():
            self._exchange.write(keys)
            await self._exchange.drain()

    def end_input(self) -> None:
        """Nothing more will be written; at a terminal the program is not told, and a person types Ctrl-D instead."""
        self._exchange.write_eof()

    def resize(self, columns: int, rows: int) -> None:
        """Only at a terminal."""
        if not self._link.lost:
            new = _size(columns, rows)
            self._link.ask({"do": "resize", "terminal": self._exchange.number, "columns": new[0], "rows": new[1]})

    async def wait(self) -> int:
        """Its exit code; 128 and the signal's number if one ended it. Raises: SandboxLost."""
        with _told():
            return (await self._exchange.answer(Left))[0].code


@asynccontextmanager
async def terminal(
    link: Link, columns: int, rows: int, argv: Sequence[str], env: Mapping[str, str]
) -> AsyncIterator[Terminal]:
    """Start it; without columns there is no terminal but pipes. Leaving ends it. Raises: LinkBroken."""
    values = {**ENVIRONMENT, **env, MARK: "1"} | ({"TERM": KIND} if columns else {})
    errors = None if columns else link.ask({"do": "errors"})
    asked: dict[str, object] = {
        "do": "program",
        "argv": [word.encode() for word in argv],
        "size": _size(columns, rows) if columns else None,
        "errors": 0 if errors is None else errors.number,
        "env": {name.encode(): value.encode() for name, value in values.items()},
        "cwd": b"/workspace",
    }
    exchange = link.ask(asked)
    try:
        yield Terminal(link, exchange, errors)
    finally:
        for each in (exchange, errors):
            if each is not None:
                each.reset()


@contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except (LinkBroken, FarEndRefused) as error:
        raise SandboxLost(f"the terminal is lost: {error}") from error


def _size(columns: int, rows: int) -> tuple[int, int]:
    return min(max(columns, 1), MOST_CELLS), min(max(rows, 1), MOST_CELLS)
