"""Runs commands through the agent: at most once for each key, and known again after the host has died."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from pydantic import RootModel

from contracts.sandbox import Command, CommandOutcome, Progress, SandboxLost
from contracts.values import Value
from sandbox.asking import asked, complaint
from sandbox.ended import Ended, Refusal, refused
from sandbox.exchange import FarEndRefused
from sandbox.limits import Limits
from sandbox.link import Link

TICK_SECONDS = 1.0
KILL_SECONDS = 60.0
GRACE_SECONDS = 90.0
"""How long after its time-out the end of a command is awaited: killing may take a while on a busy machine."""


class Answer(RootModel[Ended | Refusal]):
    """What the agent answers when it is to run something."""


class Killed(Value):
    """Whether all of a command is dead."""

    dead: bool


class Commands:
    """The commands of one link."""

    def __init__(self, link: Link, limits: Limits) -> None:
        self._link = link
        self._limits = limits

    async def run(self, command: Command, key: str, progress: Progress | None) -> CommandOutcome:
        """Start it or join it. Raises: LinkBroken, SandboxLost."""
        if problem := complaint(command):
            return refused(problem)
        seen = _Seen()
        timeout = min(command.timeout_seconds, self._limits.wall_seconds)
        meta = {"do": "run"} | asked(key, command, timeout, self._limits.output_bytes)
        exchange = self._link.ask(meta, command.stdin, seen.hear)
        try:
            async with asyncio.timeout(timeout + GRACE_SECONDS), _telling(progress, seen):
                answer, shown = await exchange.answer(Answer)
        except FarEndRefused as error:
            return refused(str(error))
        except TimeoutError as error:
            raise SandboxLost("the agent does not end a command whose time is out") from error
        if isinstance(answer.root, Refusal):
            return refused(f"the sandbox cannot note the command down: {answer.root.refused}", answer.root.limit)
        if not answer.root.fits(shown):
            raise exchange.broken("output of another length than was said")
        return answer.root.outcome(shown, wall=timeout < command.timeout_seconds)

    async def kill(self, key: str) -> None:
        """End every process of the command. Raises: LinkBroken."""
        with suppress(TimeoutError, FarEndRefused):
            async with asyncio.timeout(KILL_SECONDS):
                await self._link.ask({"do": "kill", "key": key}).answer(Killed)


@asynccontextmanager
async def _telling(progress: Progress | None, seen: "_Seen") -> AsyncIterator[None]:
    """Tell how far it is, every second."""

    async def tell(so_far: Progress) -> None:
        while True:
            await asyncio.sleep(TICK_SECONDS)
            so_far(seen.count)

    telling = asyncio.create_task(tell(progress)) if progress is not None else None
    try:
        yield
    finally:
        if telling is not None:
            telling.cancel()
            await asyncio.gather(telling, return_exceptions=True)


class _Seen:
    """How many bytes of output the agent has told of."""

    def __init__(self) -> None:
        self.count = 0

    def hear(self, payload: bytes) -> None:
        self.count = int.from_bytes(payload[:8], "big")
