"""Let a task go on again from just before one of its steps: a Temporal reset, also of a task that has ended."""

import re
from dataclasses import dataclass, field

from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.enums.v1 import EventType, ResetReapplyExcludeType
from temporalio.api.history.v1 import HistoryEvent
from temporalio.api.workflowservice.v1 import ResetWorkflowExecutionRequest
from temporalio.client import Client

from contracts.queues import task_workflow_id

_PLAN = "plan-"
_TOOL = "tool-"
_ENDS = (EventType.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED, EventType.EVENT_TYPE_WORKFLOW_EXECUTION_FAILED)


class NothingToRetry(Exception):
    """Raised when the task has not reached the step that it should go on from; the text names both."""


async def retry_task(
    client: Client, task_id: str, from_step: int | None, *, reason: str, request_id: str
) -> tuple[str, int]:
    """The new run's id, and the step that it goes on from; None takes the last one that did something.

    Raises: NothingToRetry, RPCError.
    """
    workflow_id = task_workflow_id(task_id)
    run_id = (await client.get_workflow_handle(workflow_id).describe()).run_id
    while run_id:
        run = await _read(client, workflow_id, run_id)
        done = run.step_of(request_id)
        if done is not None:
            return run_id, done
        step = run.default_step() if from_step is None else from_step
        if step is not None and step in run.points:
            mark = f"{reason} (step {step}, request {request_id})"
            return await _reset(client, workflow_id, run_id, run.points[step], mark, request_id), step
        run_id = run.before
    asked = "a first step" if from_step is None else f"step {from_step}"
    raise NothingToRetry(f"task {task_id} has not reached {asked}")


@dataclass
class _Run:
    """What one run's history tells about going on again."""

    points: dict[int, int] = field(default_factory=dict)
    """For each planned step the event to reset to."""
    before: str = ""
    """The run before, if this one was continued as new."""
    resets: list[str] = field(default_factory=list)
    """The reasons of the resets that made this run."""

    last_plan_event: int = 0
    last_plan_answered: bool = False
    acted: set[int] = field(default_factory=set)
    """Steps of which a tool ran."""
    ended: bool = False
    """True if the planner's reply ended it, well or badly."""

    def note(self, event: HistoryEvent) -> None:
        """Take in what an event says of the steps."""
        step = _step_of_activity(event, _PLAN)
        if step is not None:
            self.points[step] = event.activity_task_scheduled_event_attributes.workflow_task_completed_event_id
            self.last_plan_event, self.last_plan_answered = event.event_id, False
        acted = _step_of_activity(event, _TOOL)
        if acted is not None:
            self.acted.add(acted)
        if event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_COMPLETED:
            scheduled = event.activity_task_completed_event_attributes.scheduled_event_id
            self.last_plan_answered = self.last_plan_answered or scheduled == self.last_plan_event
        self.ended = self.ended or event.event_type in _ENDS

    def default_step(self) -> int | None:
        """The last step; where that only gave the reply, the step before, whose outcome the reply is about."""
        last = max(self.points, default=None)
        if last is None or not (self.ended and self.last_plan_answered) or last in self.acted:
            return last
        return last - 1 if last - 1 in self.points else last

    def step_of(self, request_id: str) -> int | None:
        """The step from which a request has already made this run go on."""
        pattern = re.compile(rf"\(step (\d+), request {re.escape(request_id)}\)")
        found = [match for reason in self.resets if (match := pattern.search(reason))]
        return int(found[-1][1]) if found else None


async def _read(client: Client, workflow_id: str, run_id: str) -> _Run:
    run = _Run()
    handle = client.get_workflow_handle(workflow_id, run_id=run_id)
    async for event in handle.fetch_history_events():
        if event.event_type == EventType.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED:
            run.before = event.workflow_execution_started_event_attributes.continued_execution_run_id
        elif event.event_type == EventType.EVENT_TYPE_WORKFLOW_TASK_FAILED:
            run.resets.append(event.workflow_task_failed_event_attributes.failure.message)
        run.note(event)
    return run


def _step_of_activity(event: HistoryEvent, kind: str) -> int | None:
    """The step in an activity's id, such as 3 in `plan-3` and in `tool-3.0-1f2e3d-e1`."""
    if event.event_type != EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED:
        return None
    activity_id = event.activity_task_scheduled_event_attributes.activity_id
    number = activity_id.removeprefix(kind).partition(".")[0]
    return int(number) if activity_id.startswith(kind) and number.isdigit() else None


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
