"""A stop must not get lost: a cancellation that arrives together with a result is noticed before the next wait."""

import asyncio

from temporalio import workflow

from workflows.state import TaskState


def heed_stop(state: TaskState) -> None:
    """Raises: asyncio.CancelledError if somebody has stopped the task and it does not yet close.

    The SDK gives an awaited result and drops the cancellation if both come in one activation.
    """
    if not state.closing and workflow.cancellation_reason() is not None:
        raise asyncio.CancelledError
