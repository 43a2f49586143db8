"""Takes sandboxes away in the background: whoever gave one up goes on, and a sweep finishes what was cut off."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from contracts.sandbox import SandboxUnavailable
from sandbox.driver import Driver
from sandbox.locks import Locks
from sandbox.opened import Connections
from sandbox.records import Record, Register

FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 1.0, 30.0
"""Between attempts while the engine does not answer."""

log = logging.getLogger(__name__)


class Removals:
    """The removals of one host."""

    def __init__(
        self,
        driver: Driver,
        register: Register,
        connections: Connections,
        locks: Locks,
        on_gone: Callable[[str], Awaitable[None]],
    ) -> None:
        self._driver = driver
        self._register = register
        self._connections = connections
        self._locks = locks
        self._on_gone = on_gone
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._ending = asyncio.Event()

    async def give_up(self, record: Record) -> None:
        """Nobody can use it from now on. Raises: SandboxUnavailable if that cannot be written down."""
        await self._register.write(record.become("leaving"))
        self.begin(record.sandbox_id)

    def give_up_soon(self, record: Record, after: "asyncio.Future[Any] | None" = None) -> None:
        """The same without waiting for the disk; the removal waits for what still makes the sandbox."""
        self._register.note(record.become("leaving"))
        self.begin(record.sandbox_id, after)

    def give_up_all(self, owner: str | None) -> list[str]:
        """The same for every sandbox of an owner, or of all for None; gives their names."""
        doomed = [row for row in self._register.rows if owner is None or row.owner == owner]
        for row in doomed:
            self.give_up_soon(row)
        return [row.sandbox_id for row in doomed]

    def begin(self, sandbox_id: str, after: "asyncio.Future[Any] | None" = None) -> None:
        if sandbox_id not in self._tasks:
            task = asyncio.create_task(self._until_gone(sandbox_id, after), name=f"remove {sandbox_id}")
            self._tasks[sandbox_id] = task
            task.add_done_callback(lambda _: self._tasks.pop(sandbox_id, None))

    async def now(self, sandbox_id: str) -> None:
        """Remove it, once what goes on in it has ended. Raises: SandboxUnavailable."""
        async with self._locks.of(sandbox_id):
            await self._connections.drop(sandbox_id)
            await self._driver.destroy(sandbox_id)
            if self._register.get(sandbox_id) is not None:
                await self._register.remove(sandbox_id)
        await self._on_gone(sandbox_id)

    async def finish(self, seconds: float) -> None:
        """Wait for those under way, but for no engine that is away: the next sweep takes what is then left."""
        self._ending.set()
        tasks = list(self._tasks.values())
        if tasks:
            await asyncio.wait(tasks, timeout=seconds)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._ending.clear()

    async def _until_gone(self, sandbox_id: str, after: "asyncio.Future[Any] | None") -> None:
        if after is not None:
            await asyncio.gather(after, return_exceptions=True)
        pause = FIRST_PAUSE_SECONDS
        while True:
            try:
                await self.now(sandbox_id)
            except SandboxUnavailable as error:
                log.warning("%s could not be removed, the next attempt is in %d s: %s", sandbox_id, pause, error)
                if await self._ends_within(pause):
                    return
                pause = min(2 * pause, LONGEST_PAUSE_SECONDS)
            else:
                return

    async def _ends_within(self, seconds: float) -> bool:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._ending.wait()
        return self._ending.is_set()
