"""Stops what runs on this machine: sandboxes end or stand still, and no lease of before holds any more."""

import asyncio
import threading
import time
from collections.abc import Collection, Sequence
from typing import Protocol

from contracts.kill import Kill, Stopped
from contracts.sandbox import Lease, SandboxBusy, SandboxLost, SandboxUnavailable
from sandbox import slaying
from sandbox.slaying import Quarters, Slain

FREEZE_TRIES = 16
FREEZE_AGAIN_SECONDS = 0.25
"""A tool that is being ended still holds its sandbox for a moment."""


class Stoppable(Protocol):
    """What is needed of a host."""

    def revoke(self, owner: str | None) -> list[str]: ...

    async def leases(self) -> Sequence[Lease]: ...

    async def pause(self, lease: Lease) -> None: ...


class Stopping:
    """Doing the same again changes nothing."""

    def __init__(self, host: Stoppable, quarters: Quarters) -> None:
        self._host = host
        self._quarters = quarters
        self._ending = threading.Lock()
        self._ended_for: dict[str, frozenset[str]] = {}
        """What was ended for each stop, whoever of us did it, so that each one who asks is told of all of it."""

    async def act(self, kill: Kill) -> Stopped:
        """What the level asks for, here."""
        began = time.monotonic()
        match kill.level:
            case "all":
                slain = await self._ended(kill, None)
            case "task":
                slain = await self._ended(kill, kill.task_id)
            case "tools":
                slain = await self._frozen()
            case "network":  # the way out asks the switch itself, before each request and in the middle of them
                slain = Slain()
        return Stopped(
            host_id=self._quarters.host_id,
            sandboxes=slain.sandboxes,
            left=slain.left,
            problem=slain.problem,
            seconds=round(time.monotonic() - began, 3),
        )

    def end_all(self, kill: Kill) -> Slain:
        """From any thread, without the event loop and what it knows."""
        return self._end(kill, None, ())

    async def _ended(self, kill: Kill, task_id: str | None) -> Slain:
        of_task = frozenset() if task_id is None else await asyncio.to_thread(self._quarters.of_task, task_id)
        revoked = self._host.revoke(task_id)
        only = None if task_id is None else {*of_task, *revoked}
        return await asyncio.to_thread(self._end, kill, only, revoked)

    def _end(self, kill: Kill, only: Collection[str] | None, revoked: Collection[str]) -> Slain:
        with self._ending:
            slain = slaying.end(self._quarters, only)
            all_of_it = self._ended_for.get(kill.kill_id, frozenset()).union(slain.sandboxes, revoked)
            self._ended_for[kill.kill_id] = all_of_it
        return Slain(tuple(sorted(all_of_it)), slain.left, slain.problem)

    async def _frozen(self) -> Slain:
        """Once the tools that ran have ended; what they left running stands still, too."""
        try:
            leases = await self._host.leases()
        except SandboxUnavailable as error:
            return Slain(problem=str(error))
        frozen = await asyncio.gather(*(self._paused(lease) for lease in leases))
        names = [lease.sandbox_id for lease in leases]
        return Slain(
            tuple(name for name, done in zip(names, frozen, strict=True) if done),
            tuple(name for name, done in zip(names, frozen, strict=True) if not done),
        )

    async def _paused(self, lease: Lease) -> bool:
        for _ in range(FREEZE_TRIES):
            try:
                await self._host.pause(lease)
            except SandboxBusy:
                await asyncio.sleep(FREEZE_AGAIN_SECONDS)
            except SandboxLost:
                return True
            else:
                return True
        return False
