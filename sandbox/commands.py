"""Runs commands through the agent: at most once for each key, and known again after the host has died."""

import asyncio
from contextlib import suppress

from pydantic import RootModel

from contracts.sandbox import Command, CommandOutcome, Progress
from contracts.values import Value
from sandbox.asking import asked, complaint
from sandbox.ended import Ended, Refusal, refused
from sandbox.exchange import FarEndRefused
from sandbox.limits import Limits
from sandbox.link import Link

TICK_SECONDS = 1.0
KILL_SECONDS = 60.0


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
        """Start it or join it. Raises: LinkBroken."""
        if problem := complaint(command):
            return refused(problem)
        seen = _Seen()
        timeout = min(command.timeout_seconds, self._limits.wall_seconds)
        meta = {"do": "run"} | asked(key, command, timeout, self._limits.output_bytes)
        exchange = self._link.ask(meta, command.stdin, seen.hear)
        waiting = asyncio.ensure_future(exchange.answer(Answer))
        try:
            while progress is not None and not waiting.done():
                await asyncio.wait([waiting], timeout=TICK_SECONDS)
                if not waiting.done():
                    progress(seen.count)
            answer, shown = await waiting
        except FarEndRefused as error:
            return refused(str(error))
        finally:
            waiting.cancel()
        if isinstance(answer.root, Refusal):
            return refused(f"the sandbox cannot note the command down: {answer.root.refused}", answer.root.limit)
        return answer.root.outcome(shown, wall=timeout < command.timeout_seconds)

    async def kill(self, key: str) -> None:
        """End every process of the command. Raises: LinkBroken."""
        with suppress(TimeoutError, FarEndRefused):
            async with asyncio.timeout(KILL_SECONDS):
                await self._link.ask({"do": "kill", "key": key}).answer(Killed)


class _Seen:
    """How many bytes of output the agent has told of."""

    def __init__(self) -> None:
        self.count = 0

    def hear(self, payload: bytes) -> None:
        self.count = int.from_bytes(payload[:8], "big")
