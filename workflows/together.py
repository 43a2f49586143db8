"""Waits for several tasks of one workflow, and leaves none of them behind."""

import asyncio


async def together(tasks: list[asyncio.Task[None]]) -> None:
    """Wait for all; if one raises or the task is cancelled, the others are cancelled and waited for first."""
    try:
        await asyncio.gather(*tasks)
    except GeneratorExit:
        raise  # the worker lets go of the task, and nothing can be awaited any more
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise
