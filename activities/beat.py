"""Heartbeats from the task that does the work: they end with it, and it ends with them."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

BEAT_SECONDS = 2.0
END_SECONDS = 10.0
"""How long cancelled work may take to kill what it started."""


class Pulse:
    """The latest word on progress, and its regular report."""

    def __init__(self, report: Callable[[str], None], every_seconds: float = BEAT_SECONDS) -> None:
        self._report = report
        self._every_seconds = every_seconds
        self._word = "started"

    def beat(self, word: str) -> None:
        """Note progress; it goes out with the next report, so that a chatty tool costs nothing."""
        self._word = word

    async def go_on(self) -> None:
        """Report until cancelled."""
        while True:
            self._report(self._word)
            await asyncio.sleep(self._every_seconds)


async def alive(work: Coroutine[Any, Any, T], pulse: Pulse, is_handed_over: Callable[[], bool]) -> T:
    """Do the work under a pulse.

    When this is cancelled the work is cancelled too and waited for, unless `is_handed_over()`: then a later attempt
    takes the work up where it is, so it is left to go on and to record its end if it still can.
    """
    working = asyncio.create_task(work)
    beating = asyncio.create_task(pulse.go_on())
    try:
        await asyncio.wait({working, beating}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            await beating  # it only ever ends by an error, and work that nobody sees must not go on
        return working.result()
    except asyncio.CancelledError:
        if is_handed_over():
            _leave(working)
        raise
    finally:
        beating.cancel()
        if working not in _left:
            await _end(working)


_left: set[asyncio.Task[Any]] = set()
"""Work that goes on by itself: the loop alone would not keep it."""


def _leave(working: asyncio.Task[Any]) -> None:
    _left.add(working)
    working.add_done_callback(_forget)


def _forget(working: asyncio.Task[Any]) -> None:
    _left.discard(working)
    if not working.cancelled():
        working.exception()  # looked at, since the connection it used may have been closed under it


async def _end(working: asyncio.Task[Any]) -> None:
    if working.done():
        return
    working.cancel()
    _leave(working)
    await asyncio.wait({working}, timeout=END_SECONDS)
