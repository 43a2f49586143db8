"""Hands updates on in the order of each chat, tries until they are safe, and knows which may be acknowledged."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable

from telegram import Update

from gateway.channel import ChannelBusy, ChannelUnreachable
from gateway.desk import DeskUnreachable
from gateway.store import StoreUnusable

FIRST_PAUSE_SECONDS = 0.5
LONGEST_PAUSE_SECONDS = 15.0
PLATFORM_PATIENCE_SECONDS = 300.0
"""For so long a message is kept back because Telegram itself fails, such as with a file that cannot be fetched."""

_log = logging.getLogger(__name__)

Handle = Callable[[Update], Awaitable[None]]


class Intake:
    """Nothing is acknowledged before `handle` has returned for it and for all before it."""

    def __init__(self, handle: Handle, give_up: Handle, lane: Callable[[Update], str]) -> None:
        self._handle = handle
        self._give_up = give_up
        self._lane = lane
        self._running: dict[int, asyncio.Task[None]] = {}
        self._lanes: dict[str, asyncio.Task[None]] = {}
        self._next: int | None = None
        self._finished = asyncio.Event()

    @property
    def offset(self) -> int | None:
        """The first update that must be delivered again if this process ends now."""
        return min(self._running, default=self._next)

    @property
    def busy(self) -> bool:
        return bool(self._running)

    def offer(self, update: Update) -> asyncio.Task[None]:
        """Starts on an update, unless it is under way already; the task ends when it is safe."""
        known = self._running.get(update.update_id)
        if known is not None:
            return known
        lane = self._lane(update)
        task = asyncio.create_task(self._work(update, self._lanes.get(lane)))
        self._running[update.update_id] = task
        self._lanes[lane] = task
        self._next = max(self._next or 0, update.update_id + 1)
        task.add_done_callback(lambda done: self._done(update.update_id, lane, done))
        return task

    async def some_progress(self, seconds: float) -> None:
        """Returns when an update has become safe, or after `seconds`."""
        self._finished.clear()
        try:
            async with asyncio.timeout(seconds):
                await self._finished.wait()
        except TimeoutError:
            return

    async def close(self, seconds: float) -> None:
        """Lets what is under way finish for so long; the rest will be delivered again."""
        if self._running:
            await asyncio.wait(self._running.values(), timeout=seconds)
        left = list(self._running.values())
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)

    def _done(self, update_id: int, lane: str, task: asyncio.Task[None]) -> None:
        if not task.cancelled():
            self._running.pop(update_id, None)
        if self._lanes.get(lane) is task:
            del self._lanes[lane]
        self._finished.set()

    async def _work(self, update: Update, before: asyncio.Task[None] | None) -> None:
        if before is not None:
            await asyncio.wait([before])
        started = time.monotonic()
        pause = FIRST_PAUSE_SECONDS
        while True:
            try:
                return await self._handle(update)
            except (DeskUnreachable, StoreUnusable) as error:
                _log.warning("update %s waits: %s", update.update_id, error)
            except (ChannelUnreachable, ChannelBusy) as error:
                _log.warning("update %s waits: %s", update.update_id, error)
                if time.monotonic() - started > PLATFORM_PATIENCE_SECONDS:
                    return await self._apologise(update)
            except Exception:
                # One update that nobody can handle must not hold back all that come after it.
                _log.exception("update %s cannot be handled", update.update_id)
                return await self._apologise(update)
            await asyncio.sleep(pause)
            pause = min(LONGEST_PAUSE_SECONDS, pause * 2)

    async def _apologise(self, update: Update) -> None:
        try:
            await self._give_up(update)
        except (DeskUnreachable, StoreUnusable, ChannelUnreachable, ChannelBusy) as error:
            _log.error("update %s was dropped in silence: %s", update.update_id, error)
