"""Waits for the lift of the kill switch: the task stands still, says so, and then does the same again."""

import asyncio
from datetime import datetime

from temporalio import workflow
from temporalio.exceptions import ActivityError, ApplicationError

from contracts.activities import Watching
from contracts.errors import HALTED
from contracts.queues import CONTROL
from contracts.task import Phase
from workflows import limits
from workflows.failures import reason_of, type_of
from workflows.state import TaskState
from workflows.stopping import heed_stop
from workflows.visibility import Visibility

NOTE = "halted"
"""Shown with the task for as long as it waits."""


class Halting:
    """One wait, however many calls of the task were halted."""

    def __init__(self, state: TaskState, visibility: Visibility) -> None:
        self._state = state
        self._visibility = visibility
        self._turn = asyncio.Lock()
        self._halted = False
        self._lifted_at: datetime | None = None
        self._pause = limits.HALTED_AGAIN

    def notes(self, error: ActivityError) -> bool:
        """Whether this was the kill switch; then the next `passed` waits."""
        if type_of(error) != HALTED:
            return False
        workflow.logger.warning("halted: %s", reason_of(error))
        self._halted = True
        return True

    async def passed(self) -> None:
        """Return once the task may act."""
        async with self._turn:
            while self._halted:
                await self._until_lifted()
                self._halted, self._lifted_at = False, workflow.now()

    async def _until_lifted(self) -> None:
        state = self._state
        before = state.phase
        state.notes.append(NOTE)
        self._visibility.enter(Phase.PAUSED)
        heed_stop(state)
        try:
            await self._not_at_once()
            await workflow.execute_activity_method(
                Watching.await_lift,
                state.given.record.task_id,
                task_queue=CONTROL,
                start_to_close_timeout=limits.LOOK_UP_ATTEMPT,
                retry_policy=limits.LIFT_RETRY,
                summary="wait until the kill switch is lifted",
            )
        finally:
            state.notes.remove(NOTE)
            state.changed()
        self._visibility.enter(before)

    async def _not_at_once(self) -> None:
        """A host that has not heard of the lift halts at once again, which must not fill the history."""
        since = None if self._lifted_at is None else workflow.now() - self._lifted_at
        if since is None or since > limits.HALTED_CALM:
            self._pause = limits.HALTED_AGAIN
            return
        await workflow.sleep(self._pause, summary="halted again at once")
        self._pause = min(2 * self._pause, limits.HALTED_CALM)


def has_begun(error: ActivityError) -> bool:
    """Whether a halted call may have had a part of its effect."""
    cause = error.cause
    return isinstance(cause, ApplicationError) and any(detail is True for detail in cause.details)
