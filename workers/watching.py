"""The activities that look up whether a task still runs, and what it has taken in."""

from temporalio import activity
from temporalio.client import (
    Client,
    WorkflowExecutionStatus,
    WorkflowQueryFailedError,
    WorkflowQueryRejectedError,
)
from temporalio.exceptions import ApplicationError
from temporalio.service import RPCError, RPCStatusCode

from contracts import activities, errors
from contracts.kill import Brake, EffectKind, FreeRunning, Halted
from contracts.provenance import TakenIn
from contracts.queues import task_workflow_id
from contracts.task import TaskStatus

UNKNOWN = TakenIn(foreign=True, private=True)

ACTS: tuple[EffectKind, ...] = ("model", "tool", "network", "sandbox")


async def is_open(client: Client, task_id: str) -> bool:
    """False also for a task that the server has forgotten. Raises: RPCError if the server does not answer."""
    try:
        description = await client.get_workflow_handle(task_workflow_id(task_id)).describe()
    except RPCError as error:
        if error.status is RPCStatusCode.NOT_FOUND:
            return False
        raise
    return description.status is WorkflowExecutionStatus.RUNNING


class Watching(activities.Watching):
    """Asks the server, not the index, which lags behind."""

    def __init__(self, client: Client, brake: Brake | None = None) -> None:
        self._client = client
        self._brake = brake or FreeRunning()

    @activity.defn(name="what_task_took_in")
    async def what_task_took_in(self, task_id: str) -> TakenIn:
        task = self._client.get_workflow_handle(task_workflow_id(task_id))
        try:
            status: TaskStatus = await task.query("status", result_type=TaskStatus)
        except (WorkflowQueryFailedError, WorkflowQueryRejectedError):
            return UNKNOWN
        except RPCError as error:
            if error.status is not RPCStatusCode.NOT_FOUND:
                raise
            return UNKNOWN
        return status.taken_in

    @activity.defn(name="task_is_open")
    async def task_is_open(self, task_id: str) -> bool:
        return await is_open(self._client, task_id)

    @activity.defn(name="await_lift")
    async def await_lift(self, task_id: str) -> None:
        """Raises: ApplicationError of type Halted, to be retried, while the task may not do all that it could need."""
        for effect in ACTS:
            kill = self._brake.halted(effect, task_id)
            if kill is not None:
                raise ApplicationError(str(Halted(kill)), type=errors.HALTED)
