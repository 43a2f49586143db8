"""A kept shell: scripts run one after another in the same bash, so that a builtin costs one round trip."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from contracts.sandbox import Command, CommandOutcome
from sandbox.asking import asked, complaint
from sandbox.commands import GRACE_SECONDS
from sandbox.ended import Ended, refused
from sandbox.exchange import FarEndRefused
from sandbox.limits import Limits
from sandbox.link import Link


class ShellEnded(Exception):
    """Raised when the kept shell is gone, such as by `exit` or a time-out: its folder and variables are lost."""


class KeptShell:
    """One bash. Its link is not made again: what the shell knew would be gone."""

    def __init__(self, link: Link, number: int, limits: Limits) -> None:
        self._link = link
        self._number = number
        self._limits = limits
        self._turn = asyncio.Lock()
        self.ended = False

    async def run(self, script: str, timeout_seconds: float = 120.0) -> CommandOutcome:
        """A time-out ends the shell and all that it started. Raises: ShellEnded, LinkBroken."""
        if problem := complaint(Command(script=script)):
            return refused(problem)
        async with self._turn:
            if self.ended:
                raise ShellEnded("the kept shell has ended")
            timeout = min(timeout_seconds, self._limits.wall_seconds)
            meta: dict[str, object] = {"do": "say", "shell": self._number, "timeout": timeout}
            # Until the end is there, nobody knows what state the shell is in.
            self.ended = True
            exchange = self._link.ask(meta, script.encode())
            try:
                async with asyncio.timeout(timeout + GRACE_SECONDS):
                    ended, shown = await exchange.answer(Ended)
            except FarEndRefused as error:
                raise ShellEnded(str(error)) from error
            except TimeoutError as error:
                raise exchange.broken("no end of a script") from error
            finally:
                exchange.reset()
            if not ended.fits(shown):
                raise exchange.broken("output of another length than was said")
            self.ended = ended.over
            return ended.outcome(shown, wall=timeout < timeout_seconds)


@asynccontextmanager
async def kept_shell(link: Link, key: str, limits: Limits, cwd: str) -> AsyncIterator[KeptShell]:
    """All that runs in it ends with it. Raises: ShellEnded, LinkBroken."""
    meta = asked(key, Command(argv=("bash",), cwd=cwd), limits.wall_seconds, limits.output_bytes)
    exchange = link.ask({"do": "shell"} | meta)
    try:
        # The agent sends a byte when it has begun, and its answer if it could not.
        if not await exchange.read():
            await exchange.answer(Ended)
        yield KeptShell(link, exchange.number, limits)
    except FarEndRefused as error:
        raise ShellEnded(str(error)) from error
    finally:
        exchange.reset()
