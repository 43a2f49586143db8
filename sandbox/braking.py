"""Ends work that is under way as soon as the kill switch forbids it."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from contracts.kill import Halted, Kill

T = TypeVar("T")

LOOK_SECONDS = 0.1
"""How often the switch is looked at; a look costs two microseconds."""
END_SECONDS = 5.0
"""How long ended work may take to clear up. What it started is killed from outside as well."""

_ending: set[asyncio.Task[Any]] = set()
"""Work that has been told to end; the loop alone would not keep it."""


async def braked(work: Coroutine[Any, Any, T], halted: Callable[[], Kill | None]) -> T:
    """Do the work unless it is forbidden, and only as long as it is not. Cancelling this cancels it, too.

    Raises: Halted; the work has then ended, or has had its time to.
    """
    kill = halted()
    if kill is not None:
        work.close()
        raise Halted(kill)
    working = asyncio.ensure_future(work)
    try:
        while not (await asyncio.wait({working}, timeout=LOOK_SECONDS))[0]:
            kill = halted()
            if kill is not None:
                raise Halted(kill)
        return working.result()
    finally:
        await _ended(working)


async def _ended(working: asyncio.Task[Any]) -> None:
    if working.done():
        return
    working.cancel()
    _ending.add(working)
    working.add_done_callback(_forget)
    await asyncio.wait({working}, timeout=END_SECONDS)


def _forget(working: asyncio.Task[Any]) -> None:
    _ending.discard(working)
    if not working.cancelled():
        working.exception()  # looked at, so that nobody is told of what was killed
