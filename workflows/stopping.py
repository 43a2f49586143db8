"""A stop must not get lost: a cancellation that arrives together with a result is noticed before the next wait."""

import asyncio
from collections.abc import Coroutine
from typing import Any

from temporalio import workflow

from workflows.state import TaskState


def heed_stop(state: TaskState) -> None:
    """Raises: asyncio.CancelledError if somebody has stopped the task and it does not yet close.

    The SDK gives an awaited result and drops the cancellation if both come in one activation.
    """
    if not state.closing and workflow.cancellation_reason() is not None:
        raise asyncio.CancelledError


async def unhindered(work: Coroutine[Any, Any, None]) -> None:
    """Finish this although the workflow is cancelled meanwhile: the end is the same for all of them."""
    task = asyncio.create_task(work)
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            workflow.logger.info("cancelled while closing; closing goes on")
