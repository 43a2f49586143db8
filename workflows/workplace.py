"""The task's place to work: leased on first need, leased anew when it is lost, given back at the end."""

import asyncio

from temporalio import workflow
from temporalio.exceptions import ActivityError

from contracts.activities import Leasing
from contracts.queues import HOSTS
from contracts.sandbox import Lease, LeaseRequest
from contracts.task import Phase
from contracts.texts import task as texts
from contracts.transcript import NoteTurn
from workflows import limits
from workflows.asking import Asking
from workflows.failures import reason_of
from workflows.state import TaskState
from workflows.visibility import Visibility


class Workplace:
    """One sandbox at a time; every lease has a higher epoch than the one before, which its host then refuses."""

    def __init__(self, state: TaskState, visibility: Visibility, asking: Asking) -> None:
        self._state = state
        self._visibility = visibility
        self._asking = asking
        self._turn = asyncio.Lock()

    async def lease(self) -> Lease:
        """The sandbox of this task. Raises: TaskEnded if there is none and the person gives up."""
        async with self._turn:
            while self._state.lease is None:
                before = self._state.phase
                self._visibility.enter(Phase.LEASING)
                await self._try_lease()
                self._visibility.enter(before)
            return self._state.lease

    def lost(self, lease: Lease) -> None:
        """Note that a sandbox is gone, once, however many calls notice it."""
        if self._state.lease is not None and self._state.lease.epoch == lease.epoch:
            self._state.lease = None
            self._state.notes.append("sandbox_lost")
            self._state.additions.append(
                NoteTurn(code="sandbox_lost", text=f"The sandbox {lease.sandbox_id} was lost; its files are gone.")
            )
            self._state.changed()

    async def release(self) -> None:
        """Give the sandbox back. A host that cannot be reached keeps it until its sweep."""
        lease = self._state.lease
        if lease is None:
            return
        try:
            await workflow.execute_activity_method(
                Leasing.release_sandbox,
                lease,
                task_queue=lease.task_queue,
                start_to_close_timeout=limits.RELEASE_ATTEMPT,
                schedule_to_close_timeout=limits.RELEASE_IN_ALL,
                summary=f"remove sandbox {lease.sandbox_id}",
            )
        except ActivityError as error:
            workflow.logger.warning("sandbox %s is left to the sweep: %s", lease.sandbox_id, error.cause)
        self._state.lease = None

    async def _try_lease(self) -> None:
        state = self._state
        request = LeaseRequest(
            task_id=state.given.record.task_id,
            user_id=state.given.actor.user_id,
            previous_epoch=state.epoch,
            egress=state.approved_hosts,
        )
        try:
            state.lease = await workflow.execute_activity_method(
                Leasing.lease_sandbox,
                request,
                task_queue=HOSTS,
                start_to_close_timeout=limits.LEASE_ATTEMPT,
                schedule_to_close_timeout=limits.LEASE_IN_ALL,
                retry_policy=limits.LEASE_RETRY,
                summary="get a sandbox",
            )
            state.epoch = state.lease.epoch
        except ActivityError as error:
            language = state.given.language
            reason = reason_of(error)
            question = texts.NO_SANDBOX.say(language, reason=reason)
            await self._asking.go_on(question, texts.TRY_AGAIN.say(language), reason)
