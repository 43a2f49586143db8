"""Writes events into the audit in their order, without holding up who tells of them."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from contracts.audit import Event, Recorder

_log = logging.getLogger(__name__)


class Later:
    """Takes events from any thread; they are on disk when the block of `recording_later` has ended."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._waiting: asyncio.Queue[Event] = asyncio.Queue()

    def __call__(self, event: Event) -> None:
        self._loop.call_soon_threadsafe(self._waiting.put_nowait, event)

    async def write_for_ever(self, recorder: Recorder) -> None:
        while True:
            event = await self._waiting.get()
            try:
                await recorder.record(event)
            finally:
                self._waiting.task_done()

    async def written(self) -> None:
        """Wait until nothing is left to write of what was told before."""
        await asyncio.sleep(0)  # what was told a moment ago is in the queue only after the next turn of the loop
        await self._waiting.join()


@asynccontextmanager
async def recording_later(recorder: Recorder, later: Later | None = None) -> AsyncIterator[Later]:
    """Write while the block runs; an event that cannot be written ends the writing, and is in the log."""
    later = later or Later()
    writing = asyncio.create_task(later.write_for_ever(recorder))
    writing.add_done_callback(_report)
    try:
        yield later
    finally:
        rest = asyncio.create_task(later.written())
        await asyncio.wait([rest, writing], return_when=asyncio.FIRST_COMPLETED)
        for task in (rest, writing):
            task.cancel()
        await asyncio.gather(rest, writing, return_exceptions=True)


def _report(writing: asyncio.Task[None]) -> None:
    if not writing.cancelled() and writing.exception() is not None:
        _log.error("what happens meanwhile is no longer written down: %s", writing.exception())
