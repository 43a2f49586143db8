"""Playwright's own process, ended whatever happens: a start that is cancelled would leave it behind for ever."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from playwright.async_api import Playwright, async_playwright

_START_SECONDS = 60.0


@asynccontextmanager
async def driver() -> AsyncIterator[Playwright]:
    """Raises: playwright Error if it does not start."""
    starting = asyncio.create_task(async_playwright().start())
    try:
        yield await asyncio.shield(starting)
    finally:
        await _stop(starting)


async def _stop(starting: "asyncio.Task[Playwright]") -> None:
    await asyncio.wait({starting}, timeout=_START_SECONDS)
    if starting.done() and not starting.cancelled() and starting.exception() is None:
        await starting.result().stop()
