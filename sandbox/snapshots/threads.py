"""Blocking work on what has to be closed again: nothing is closed while a thread still uses it."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

T = TypeVar("T")
P = ParamSpec("P")


async def in_thread(act: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Like asyncio.to_thread, but a caller that is cancelled goes on only when the thread has come to its end."""
    doing = asyncio.ensure_future(asyncio.to_thread(act, *args, **kwargs))
    try:
        return await asyncio.shield(doing)
    except asyncio.CancelledError:
        await _ended(doing)
        raise


async def apart(act: Callable[[], T]) -> T:
    """In a thread of its own, for what waits for work of other threads: enough of these would fill the common pool, and
    wait for ever. A caller that is cancelled does not wait for it."""
    pool = ThreadPoolExecutor(1)
    try:
        return await asyncio.get_running_loop().run_in_executor(pool, act)
    finally:
        pool.shutdown(wait=False)


async def ahead(following: Callable[[], list[T]]) -> AsyncGenerator[list[T], None]:
    """What `following` gives until it gives nothing; each is made in a thread while the former is being used."""
    coming = asyncio.ensure_future(asyncio.to_thread(following))
    try:
        while batch := await asyncio.shield(coming):
            coming = asyncio.ensure_future(asyncio.to_thread(following))
            yield batch
    finally:
        await _ended(coming)


async def _ended(doing: "asyncio.Future[T]") -> None:
    """Whatever came of it."""
    await asyncio.wait([doing])
    if not doing.cancelled():
        doing.exception()
