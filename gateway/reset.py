"""Let a task go on again from just before one of its steps: a Temporal reset, also of a task that has ended."""

from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.enums.v1 import EventType, ResetReapplyExcludeType
from temporalio.api.history.v1 import HistoryEvent
from temporalio.api.workflowservice.v1 import ResetWorkflowExecutionRequest
from temporalio.client import Client

from contracts.queues import task_workflow_id

_PLAN = "plan-"


class NothingToRetry(Exception):
    """Raised when the task has not reached the step that it should go on from; the text names both."""


async def retry_task(
    client: Client, task_id: str, from_step: int | None, *, reason: str, request_id: str
) -> tuple[str, int]:
    """The new run's id, and the step that it goes on from; None takes the last step that was planned.

    Raises: NothingToRetry, RPCError.
    """
    workflow_id = task_workflow_id(task_id)
    run_id = (await client.get_workflow_handle(workflow_id).describe()).run_id
    before: str | None = run_id
    while before:
        points, earlier = await _points(client, workflow_id, before)
        step = max(points, default=None) if from_step is None else from_step
        if step is not None and step in points:
            return await _reset(client, workflow_id, before, points[step], reason, request_id), step
        before = earlier
    asked = "a first step" if from_step is None else f"step {from_step}"
    raise NothingToRetry(f"task {task_id} has not reached {asked}")


async def _points(client: Client, workflow_id: str, run_id: str) -> tuple[dict[int, int], str]:
    """For each planned step of a run the event to reset to; and the run before it, if it was continued as new."""
    points: dict[int, int] = {}
    earlier = ""
    handle = client.get_workflow_handle(workflow_id, run_id=run_id)
    async for event in handle.fetch_history_events():
        if event.event_type == EventType.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED:
            earlier = event.workflow_execution_started_event_attributes.continued_execution_run_id
        step = _planned_step(event)
        if step is not None:
            points[step] = event.activity_task_scheduled_event_attributes.workflow_task_completed_event_id
    return points, earlier


def _planned_step(event: HistoryEvent) -> int | None:
    if event.event_type != EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED:
        return None
    activity_id = event.activity_task_scheduled_event_attributes.activity_id
    number = activity_id.removeprefix(_PLAN)
    return int(number) if activity_id.startswith(_PLAN) and number.isdigit() else None


async def _reset(client: Client, workflow_id: str, run_id: str, event_id: int, reason: str, request_id: str) -> str:
    response = await client.workflow_service.reset_workflow_execution(
        ResetWorkflowExecutionRequest(
            namespace=client.namespace,
            workflow_execution=WorkflowExecution(workflow_id=workflow_id, run_id=run_id),
            reason=reason,
            workflow_task_finish_event_id=event_id,
            request_id=request_id,
            # Without this a stopped task would be stopped again by the stop that it is to recover from.
            reset_reapply_exclude_types=[ResetReapplyExcludeType.RESET_REAPPLY_EXCLUDE_TYPE_CANCEL_REQUEST],
        )
    )
    return response.run_id
