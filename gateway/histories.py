"""A task's histories: every run of its workflow, and what is in their payloads."""

from collections.abc import AsyncIterator

from temporalio.api.common.v1 import Payload
from temporalio.api.enums.v1 import EventType
from temporalio.api.history.v1 import HistoryEvent
from temporalio.client import Client, WorkflowHistory
from temporalio.converter import PayloadCodec

from contracts.activities import RunOutcome
from contracts.task import TaskInput

_STARTED = EventType.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED
_SCHEDULED = EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED
_COMPLETED = EventType.EVENT_TYPE_ACTIVITY_TASK_COMPLETED
RUN_TOOL = "run_tool"


async def run_ids(client: Client, workflow_id: str) -> list[str]:
    """Every run of a workflow, oldest first, followed backwards through continue-as-new and reset. Raises: RPCError."""
    found: list[str] = []
    run_id: str | None = (await client.get_workflow_handle(workflow_id).describe()).run_id
    while run_id:
        found.insert(0, run_id)
        first = await anext(client.get_workflow_handle(workflow_id, run_id=run_id).fetch_history_events(page_size=1))
        run_id = first.workflow_execution_started_event_attributes.continued_execution_run_id or None
    return found


async def histories_of(client: Client, workflow_id: str) -> list[WorkflowHistory]:
    """All runs at once, oldest first. Raises: RPCError."""
    return [
        WorkflowHistory(workflow_id, [event async for event in events_of(client, workflow_id, run_id)])
        for run_id in await run_ids(client, workflow_id)
    ]


async def events_of(client: Client, workflow_id: str, run_id: str) -> AsyncIterator[HistoryEvent]:
    """One run's events, page by page. Raises: RPCError."""
    async for event in client.get_workflow_handle(workflow_id, run_id=run_id).fetch_history_events():
        yield event


async def told(client: Client, codec: PayloadCodec, workflow_id: str) -> AsyncIterator[TaskInput | RunOutcome]:
    """What started each run, and what each call gave, in their order. Raises: RPCError, PayloadUnreadable."""
    for run_id in await run_ids(client, workflow_id):
        tools: set[int] = set()
        async for event in events_of(client, workflow_id, run_id):
            if event.event_type == _STARTED:
                payloads = event.workflow_execution_started_event_attributes.input.payloads
                yield TaskInput.model_validate_json(await _opened(codec, payloads[0]))
            elif event.event_type == _SCHEDULED:
                if event.activity_task_scheduled_event_attributes.activity_type.name == RUN_TOOL:
                    tools.add(event.event_id)
            elif event.event_type == _COMPLETED:
                done = event.activity_task_completed_event_attributes
                if done.scheduled_event_id in tools:
                    yield RunOutcome.model_validate_json(await _opened(codec, done.result.payloads[0]))


async def _opened(codec: PayloadCodec, payload: Payload) -> bytes:
    return (await codec.decode([payload]))[0].data
