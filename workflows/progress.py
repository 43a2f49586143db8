"""Keeps the person's one message in line with the task, in the background and never in its way."""

import asyncio
from datetime import timedelta

from temporalio import workflow
from temporalio.exceptions import ActivityError

from contracts.activities import Delivering
from contracts.delivery import DeliverRequest
from contracts.queues import GATEWAY
from contracts.task import Phase
from workflows import limits
from workflows.state import TaskState

BUSY_PHASES = frozenset({Phase.QUEUED, Phase.LEASING, Phase.PLANNING, Phase.ACTING})


class Progress:
    """Delivers the newest view at most once a second; a view that is already outdated is never sent."""

    def __init__(self, state: TaskState) -> None:
        self._state = state
        self._delivered = 0
        self._in_flight = False
        self._reminded_of: str | None = None
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """A channel that asks for the status itself needs no deliveries."""
        if self._state.given.pushes:
            self._task = asyncio.create_task(self._follow())

    async def stop(self) -> None:
        """End after the delivery that is under way, so that no older view comes after a newer one."""
        if self._task is None:
            return
        await workflow.wait_condition(lambda: not self._in_flight)
        self._task.cancel()
        self._task = None

    async def final(self) -> None:
        """Bring the end of the task to the person, however long the gateway is away."""
        if not self._state.given.pushes:
            return
        try:
            await workflow.execute_activity_method(
                Delivering.deliver,
                self._request(final=True),
                task_queue=GATEWAY,
                start_to_close_timeout=limits.FINAL_ATTEMPT,
                schedule_to_close_timeout=limits.FINAL_IN_ALL,
                heartbeat_timeout=limits.DELIVER_HEARTBEAT,
                retry_policy=limits.FINAL_RETRY,
                summary="deliver the answer",
            )
        except ActivityError as error:
            workflow.logger.error("the answer could not be delivered: %s", error.cause)

    async def _follow(self) -> None:
        while True:
            await self._until_something_changes()
            await self._deliver()
            await workflow.sleep(limits.PROGRESS_PAUSE, summary="between edits")

    async def _until_something_changes(self) -> None:
        """Also ends without a change when it is time to show life, or to remind the person that they are waited for."""

        def changed() -> bool:
            return self._state.sequence > self._delivered

        if changed():
            return
        why, timeout = self._patience()
        try:
            await workflow.wait_condition(changed, timeout=timeout, timeout_summary=why)
        except TimeoutError:
            self._state.changed()

    def _patience(self) -> tuple[str, timedelta | None]:
        state = self._state
        if state.phase in BUSY_PHASES:
            return "show life", limits.PROGRESS_TICK
        waits_for = state.approval.approval_id if state.approval else state.asked.question_id if state.asked else None
        if waits_for is None:
            return "", None
        reminded = waits_for == self._reminded_of
        self._reminded_of = waits_for
        first = timedelta(minutes=state.given.limits.remind_after_minutes)
        return "remind the person", limits.REMINDER_EVERY if reminded else first

    async def _deliver(self) -> None:
        request = self._request(final=False)
        self._in_flight = True
        try:
            await workflow.execute_activity_method(
                Delivering.deliver,
                request,
                task_queue=GATEWAY,
                start_to_close_timeout=limits.PROGRESS_ATTEMPT,
                schedule_to_close_timeout=limits.PROGRESS_IN_ALL,
                heartbeat_timeout=limits.DELIVER_HEARTBEAT,
                summary=f"show {request.status.phase}",
            )
        except ActivityError as error:
            workflow.logger.warning("progress could not be shown: %s", error.cause)
        finally:
            self._in_flight = False
        self._delivered = request.status.sequence

    def _request(self, *, final: bool) -> DeliverRequest:
        return DeliverRequest(address=self._state.given.address, status=self._state.status(), final=final)
