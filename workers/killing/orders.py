"""What a stop means for Temporal: tasks end, nothing that waits begins, and schedules stand still until the lift."""

import asyncio
from datetime import UTC, datetime, timedelta

from temporalio.client import Client, WorkflowUpdateFailedError
from temporalio.service import RPCError, RPCStatusCode

from contracts.conversation import Accepted, DropWaiting
from contracts.kill import Kill, note_of
from contracts.queues import task_workflow_id

CALL = timedelta(seconds=5)
DROP_SECONDS = 3.0
"""A mailbox answers in milliseconds if a worker runs; if none does, nothing that waits can begin."""
AT_ONCE = 20
SWEEPS = "sweep/"
"""Schedules that go on: a sweep is no effect of an agent, and removes what a stop leaves behind."""
NOTE = "stopped by the kill switch"


async def cancel(client: Client, kill: Kill) -> tuple[str, ...]:
    """Cancel the task, or for the level `all` every task that is open; gives their ids. Raises: RPCError."""
    if kill.level == "task" and kill.task_id is not None:
        return (kill.task_id,) if await _cancelled(client, task_workflow_id(kill.task_id), kill) else ()
    if kill.level != "all":
        return ()
    await _drop_waiting(client, kill)
    room = asyncio.Semaphore(AT_ONCE)

    async def one(workflow_id: str) -> str | None:
        async with room:
            return workflow_id.partition("/")[2] if await _cancelled(client, workflow_id, kill) else None

    found = await asyncio.gather(*(one(each) for each in await _open(client, "TaskWorkflow")))
    return tuple(task_id for task_id in found if task_id is not None)


async def settle_schedules(client: Client, *, stopped: bool) -> tuple[str, ...]:
    """Pause all that are not sweeps, or let go on what this has paused; gives those that changed. Raises: RPCError."""
    changed = []
    async for listed in await client.list_schedules():
        if listed.id.startswith(SWEEPS):
            continue
        handle = client.get_schedule_handle(listed.id)
        state = (await handle.describe(rpc_timeout=CALL)).schedule.state
        ours = state.paused and state.note == NOTE
        if stopped and not state.paused:
            await handle.pause(note=NOTE, rpc_timeout=CALL)
            changed.append(listed.id)
        elif ours and not stopped:
            await handle.unpause(note="", rpc_timeout=CALL)
            changed.append(listed.id)
    return tuple(changed)


async def _open(client: Client, kind: str) -> list[str]:
    query = f"WorkflowType = '{kind}' AND ExecutionStatus = 'Running'"
    return [execution.id async for execution in client.list_workflows(query, rpc_timeout=CALL)]


async def _cancelled(client: Client, workflow_id: str, kill: Kill) -> bool:
    """False if it has ended. Raises: RPCError."""
    try:
        await client.get_workflow_handle(workflow_id).cancel(reason=note_of(kill), rpc_timeout=CALL)
    except RPCError as error:
        if error.status is RPCStatusCode.NOT_FOUND:
            return False
        raise
    return True


async def _drop_waiting(client: Client, kill: Kill) -> None:
    """Forget what waits in mailboxes, or the end of one task would begin the next."""
    request = DropWaiting(by=kill.by, sent_until=datetime.now(UTC))

    async def one(workflow_id: str) -> None:
        handle = client.get_workflow_handle(workflow_id)
        await handle.execute_update("drop_waiting", request, id=f"kill-{kill.kill_id}", result_type=Accepted)

    mailboxes = await _open(client, "ConversationWorkflow")
    dropping = [asyncio.ensure_future(one(each)) for each in mailboxes]
    if not dropping:
        return
    await asyncio.wait(dropping, timeout=DROP_SECONDS)
    for each in dropping:
        each.cancel()
    for outcome in await asyncio.gather(*dropping, return_exceptions=True):
        if isinstance(outcome, RPCError | WorkflowUpdateFailedError | asyncio.CancelledError) or outcome is None:
            continue
        raise outcome
