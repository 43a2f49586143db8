"""A terminal in a sandbox: a login shell behind a pseudo-terminal of the agent."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
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


class Left(Value):
    """How the shell ended."""

    code: Annotated[int, Field(ge=0, le=255)] | None


class Terminal:
    """Keys go in, what is to be shown comes out."""

    def __init__(self, link: Link, exchange: Exchange) -> None:
        self._link = link
        self._exchange = exchange

    async def read(self, size: int = 65_536) -> bytes:
        """What came, at most so much; empty at the end. Raises: SandboxLost."""
        try:
            return await self._exchange.read(size)
        except LinkBroken as error:
            raise SandboxLost(f"the terminal is lost: {error}") from error

    async def write(self, keys: bytes) -> None:
        """Raises: SandboxLost."""
        try:
            self._exchange.write(keys)
            await self._exchange.drain()
        except LinkBroken as error:
            raise SandboxLost(f"the terminal is lost: {error}") from error

    def resize(self, columns: int, rows: int) -> None:
        if not self._link.lost:
            asked = {"do": "resize", "terminal": self._exchange.number} | _size(columns, rows)
            self._link.ask(asked)

    async def wait(self) -> int | None:
        """Its exit code, or None if a signal ended it. Raises: SandboxLost."""
        try:
            return (await self._exchange.answer(Left))[0].code
        except (LinkBroken, FarEndRefused) as error:
            raise SandboxLost(f"the terminal is lost: {error}") from error


@asynccontextmanager
async def terminal(link: Link, columns: int, rows: int) -> AsyncIterator[Terminal]:
    """Open one; what runs in it is hung up at the end. Raises: LinkBroken."""
    values = ENVIRONMENT | {MARK: "1", "TERM": KIND}
    asked: dict[str, object] = {
        "do": "terminal",
        "env": {name.encode(): value.encode() for name, value in values.items()},
        "cwd": b"/workspace",
    }
    exchange = link.ask(asked | _size(columns, rows))
    try:
        yield Terminal(link, exchange)
    finally:
        exchange.reset()


def _size(columns: int, rows: int) -> dict[str, object]:
    return {"columns": min(max(columns, 1), MOST_CELLS), "rows": min(max(rows, 1), MOST_CELLS)}
