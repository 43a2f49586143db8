"""Waits for the person or for the time, whichever is first: a rate or the day's budget frees itself."""

import asyncio
from collections.abc import Coroutine
from datetime import datetime

from temporalio import workflow

from contracts.transcript import UserTurn


async def answered_before(at: datetime | None, asking: Coroutine[None, None, UserTurn]) -> bool:
    """Whether the person answered before that time; then nothing is asked any more. Raises: what the asking raises."""
    waiting = asyncio.create_task(asking)
    try:
        await workflow.wait_condition(
            waiting.done,
            timeout=None if at is None else at - workflow.now(),
            timeout_summary="it is free again" if at is not None else None,
        )
    except TimeoutError:
        return False
    finally:
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
    waiting.result()
    return True
