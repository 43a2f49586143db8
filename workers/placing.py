"""The activity by which a task gets its sandbox: it puts the need to the sandbox's own workflow, started if there is
none."""

from collections.abc import Callable

from temporalio import activity
from temporalio.client import Client, WithStartWorkflowOperation, WorkflowUpdateFailedError
from temporalio.common import (
    SearchAttributePair,
    TypedSearchAttributes,
    WorkflowIDConflictPolicy,
)
from temporalio.exceptions import ApplicationError
from temporalio.service import RPCError, RPCStatusCode

from activities.beat import Pulse, alive
from activities.failures import halted
from contracts import activities, errors, search
from contracts.activities import Acquired, AcquireRequest
from contracts.kill import Brake, FreeRunning, Halted
from contracts.lifecycle import Lifetimes, SandboxInput, SandboxState
from contracts.queues import WORKFLOWS, sandbox_workflow_id

TOLD = frozenset(
    {
        errors.SANDBOX_UNAVAILABLE,
        errors.SANDBOX_BUSY,
        errors.SANDBOX_LOST,
        errors.SNAPSHOT_FAILED,
        errors.SNAPSHOT_UNUSABLE,
        errors.MACHINE_FULL,
        errors.HALTED,
    }
)
"""What the sandbox's workflow has tried for long enough: the task hears of it, and asks its person."""


class Placing(activities.Placing):
    """One need is one update of the sandbox's workflow, however often the activity is tried."""

    def __init__(
        self,
        client: Client,
        lifetimes: Lifetimes,
        brake: Brake | None = None,
        on_host: Callable[[str, str], None] = lambda _host_id, _url: None,
    ) -> None:
        """`on_host` hears of each host that gave a sandbox, and of its address."""
        self._client = client
        self._lifetimes = lifetimes
        self._brake = brake or FreeRunning()
        self._on_host = on_host

    @activity.defn(name="acquire_sandbox")
    async def acquire_sandbox(self, request: AcquireRequest) -> Acquired:
        """Raises: ApplicationError of the types in TOLD, not to be retried, and SandboxClosing, to be retried."""
        kill = self._brake.halted("sandbox", request.task_id)
        if kill is not None:
            raise halted(Halted(kill))
        # A task that was reset counts its needs from an earlier number, but under another run id.
        update_id = f"{request.task_id}/{activity.info().workflow_run_id}/{request.number}"
        pulse = Pulse(activity.heartbeat)
        try:
            acquired = await alive(self._needed(request, update_id), pulse, lambda: False)
        except WorkflowUpdateFailedError as error:
            raise _told(error) from error
        except RPCError as error:
            if error.status is not RPCStatusCode.NOT_FOUND:
                raise
            raise ApplicationError("the sandbox's workflow has just ended", type=errors.SANDBOX_CLOSING) from error
        self._on_host(acquired.lease.host_id, acquired.lease.api_url)
        return acquired

    async def _needed(self, request: AcquireRequest, update_id: str) -> Acquired:
        given = SandboxInput(
            owner=request.task_id, user_id=request.user_id, task_id=request.task_id, lifetimes=self._lifetimes
        )
        start: WithStartWorkflowOperation[object, object] = WithStartWorkflowOperation(
            "SandboxWorkflow",
            given,
            id=sandbox_workflow_id(given.owner),
            task_queue=WORKFLOWS,
            id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
            static_summary=f"sandbox of task {given.owner}",
            search_attributes=TypedSearchAttributes(
                [
                    SearchAttributePair(search.SANDBOX_STATE, SandboxState.LEASING.value),
                    SearchAttributePair(search.USER_ID, given.user_id),
                ]
            ),
        )
        acquired: Acquired = await self._client.execute_update_with_start_workflow(
            "need", request, start_workflow_operation=start, id=update_id, result_type=Acquired
        )
        return acquired


def _told(error: WorkflowUpdateFailedError) -> ApplicationError:
    cause = error.cause
    if not isinstance(cause, ApplicationError):
        return ApplicationError(str(cause), type=errors.SANDBOX_CLOSING)
    return ApplicationError(
        cause.message, type=cause.type or errors.SANDBOX_UNAVAILABLE, non_retryable=cause.type in TOLD
    )
