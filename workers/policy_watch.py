"""Looks at the policy file again and again, so that `asos status` tells of an edit before anything is asked."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

LOOK_SECONDS = 1.0


@asynccontextmanager
async def looking_at_policy(look: Callable[[], object], *, seconds: float = LOOK_SECONDS) -> AsyncIterator[None]:
    """Look while the block runs; `look` reads the file if it has changed, and tells of that itself."""
    looking = asyncio.create_task(_look(look, seconds))
    try:
        yield
    finally:
        looking.cancel()
        with suppress(asyncio.CancelledError):
            await looking


async def _look(look: Callable[[], object], seconds: float) -> None:
    while True:
        await asyncio.to_thread(look)
        await asyncio.sleep(seconds)
