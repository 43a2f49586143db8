"""The desk on Temporal: messages become updates of conversations and tasks, called by name."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from typing import TypeVar
from uuid import uuid4

from temporalio.client import (
    Client,
    RPCTimeoutOrCancelledError,
    WithStartWorkflowOperation,
    WorkflowExecution,
    WorkflowExecutionStatus,
    WorkflowHandle,
    WorkflowQueryFailedError,
    WorkflowQueryRejectedError,
    WorkflowUpdateFailedError,
)
from temporalio.common import WorkflowIDConflictPolicy
from temporalio.exceptions import ApplicationError
from temporalio.service import RPCError, RPCStatusCode

from contracts import errors, search
from contracts.conversation import (
    Accepted,
    ConversationInput,
    ConversationState,
    Delivered,
    DropWaiting,
    Mode,
    SetMode,
)
from contracts.kill import Brake, FreeRunning, Halted
from contracts.queues import WORKFLOWS, conversation_workflow_id, sandbox_workflow_id, task_workflow_id
from contracts.task import Decision, GivenAnswer, PauseRequest, Phase, Receipt, Says, TaskStatus
from contracts.undo import Undone
from contracts.values import Value
from gateway.desk import DeskUnreachable, NoSuchTask, Refused, Retried, TaskSummary
from gateway.reset import NothingToRetry, retry_task

UPDATE_SECONDS = 15.0
UNDO_SECONDS = 120.0
"""An update is safe only once a worker has taken it, so that this bounds how long a worker may be away."""

QUERY_SECONDS = 10.0

SORTED_TASKS = 200
"""The server lists open tasks before closed ones; so many are read to put the newest first."""

RPC_SECONDS = timedelta(seconds=5)

_WAITING = frozenset(
    {
        RPCStatusCode.UNAVAILABLE,
        RPCStatusCode.DEADLINE_EXCEEDED,
        RPCStatusCode.CANCELLED,
        RPCStatusCode.RESOURCE_EXHAUSTED,
        RPCStatusCode.INTERNAL,
        RPCStatusCode.UNKNOWN,
        RPCStatusCode.ABORTED,
        RPCStatusCode.FAILED_PRECONDITION,
    }
)

_log = logging.getLogger(__name__)

Result = TypeVar("Result", bound=Value)


class TemporalDesk:
    """Satisfies Desk. What a workflow rejects leaves no trace in Temporal, so that it is logged here."""

    def __init__(self, client: Client | None = None, brake: Brake | None = None) -> None:
        """Without a client nobody can be reached until `connect`. Nothing begins while the brake forbids it."""
        self._connected = client
        self._brake = brake or FreeRunning()

    def connect(self, client: Client) -> None:
        self._connected = client

    async def submit(self, delivered: Delivered) -> Accepted:
        self._heed(None)
        message = delivered.message
        return await self._update_conversation(
            delivered.address.channel, message.channel.id, "receive", delivered, message.message_id, Accepted
        )

    async def set_mode(self, channel: str, chat_id: str, mode: Mode) -> None:
        await self._update_conversation(channel, chat_id, "set_mode", SetMode(mode=mode), str(uuid4()), Accepted)

    async def drop_waiting(self, channel: str, chat_id: str, by: str, sent_until: datetime) -> int:
        request = DropWaiting(by=by, sent_until=sent_until)
        accepted = await self._update_conversation(channel, chat_id, "drop_waiting", request, str(uuid4()), Accepted)
        return accepted.ahead

    async def conversation(self, channel: str, chat_id: str) -> ConversationState | None:
        workflow_id = conversation_workflow_id(channel, chat_id)
        handle = self._client.get_workflow_handle(workflow_id)
        try:
            async with answering(workflow_id, QUERY_SECONDS):
                state: ConversationState = await handle.query("state", result_type=ConversationState)
                return state
        except NoSuchTask:
            return None

    async def decide(self, task_id: str, decision: Decision) -> Receipt:
        verb = "yes" if decision.approve else "no"
        return await self._update_task(task_id, "decide", decision, f"{decision.approval_id}:{verb}:{decision.by}")

    async def answer(self, task_id: str, answer: GivenAnswer) -> Receipt:
        return await self._update_task(task_id, "answer", answer, answer.turn.message_id)

    async def say(self, task_id: str, says: Says) -> Receipt:
        return await self._update_task(task_id, "say", says, says.turn.message_id)

    async def pause(self, task_id: str, by: str, *, interrupt: bool = False) -> Receipt:
        return await self._update_task(task_id, "pause", PauseRequest(interrupt=interrupt, by=by), None)

    async def resume(self, task_id: str, by: str) -> Receipt:
        return await self._update_task(task_id, "resume", PauseRequest(by=by), None)

    async def stop(self, task_id: str, reason: str) -> None:
        async with answering(task_id, UPDATE_SECONDS):
            await self._task(task_id).cancel(reason=reason, rpc_timeout=RPC_SECONDS)

    async def status(self, task_id: str) -> TaskStatus:
        async with answering(task_id, QUERY_SECONDS):
            status: TaskStatus = await self._task(task_id).query("status", result_type=TaskStatus)
            return status

    async def summary(self, task_id: str) -> TaskSummary:
        async with answering(task_id, QUERY_SECONDS):
            described = await self._task(task_id).describe(rpc_timeout=RPC_SECONDS)
            return _summary(described, await described.static_summary() or "")

    async def tasks(self, user_id: str | None, limit: int = 20) -> list[TaskSummary]:
        found: list[WorkflowExecution] = []
        async with answering("", QUERY_SECONDS):
            listed = max(limit, SORTED_TASKS)
            async for execution in self._client.list_workflows(_listing(user_id), limit=listed, page_size=listed):
                found.append(execution)
        newest = sorted(found, key=lambda execution: execution.start_time, reverse=True)[:limit]
        return list(await asyncio.gather(*(self._with_goal(execution) for execution in newest)))

    async def retry(self, task_id: str, from_step: int | None, *, reason: str, request_id: str) -> Retried:
        self._heed(task_id)
        async with answering(task_id, UPDATE_SECONDS):
            try:
                run_id, step = await retry_task(self._client, task_id, from_step, reason=reason, request_id=request_id)
            except NothingToRetry as nothing:
                raise Refused("NothingToRetry", str(nothing)) from nothing
            await self._task(task_id).signal("retried", reason, rpc_timeout=RPC_SECONDS)
        return Retried(task_id=task_id, run_id=run_id, step=step)

    async def undo(self, task_id: str, step: int | None) -> Undone:
        async with answering(task_id, UNDO_SECONDS):
            sandbox = self._client.get_workflow_handle(sandbox_workflow_id(task_id))
            undone: Undone = await sandbox.execute_update("undo", step, result_type=Undone)
            return undone

    async def reachable(self) -> bool:
        if self._connected is None:
            return False
        try:
            async with asyncio.timeout(RPC_SECONDS.total_seconds()):
                return await self._client.service_client.check_health(timeout=RPC_SECONDS)
        except (TimeoutError, RPCError, RPCTimeoutOrCancelledError):
            return False

    def _heed(self, task_id: str | None) -> None:
        """Raises: Refused."""
        kill = self._brake.halted("task", task_id)
        if kill is not None:
            raise Refused(errors.HALTED, str(Halted(kill)))

    @property
    def _client(self) -> Client:
        if self._connected is None:
            raise DeskUnreachable("Temporal has not answered since the start")
        return self._connected

    def _task(self, task_id: str) -> WorkflowHandle[object, object]:
        return self._client.get_workflow_handle(task_workflow_id(task_id))

    async def _with_goal(self, execution: WorkflowExecution) -> TaskSummary:
        try:
            return await self.summary(execution.id.partition("/")[2])
        except NoSuchTask:
            return _summary(execution, "")

    async def _update_task(self, task_id: str, name: str, request: Value, update_id: str | None) -> Receipt:
        async with answering(task_id, UPDATE_SECONDS):
            receipt: Receipt = await self._task(task_id).execute_update(
                name, request, id=update_id or str(uuid4()), result_type=Receipt
            )
            return receipt

    async def _update_conversation(
        self, channel: str, chat_id: str, name: str, request: Value, update_id: str, result_type: type[Result]
    ) -> Result:
        workflow_id = conversation_workflow_id(channel, chat_id)
        start: WithStartWorkflowOperation[object, object] = WithStartWorkflowOperation(
            "ConversationWorkflow",
            ConversationInput(conversation_id=workflow_id),
            id=workflow_id,
            task_queue=WORKFLOWS,
            id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
            static_summary=f"mailbox of chat {chat_id} on {channel}",
        )
        async with answering(workflow_id, UPDATE_SECONDS):
            result: Result = await self._client.execute_update_with_start_workflow(
                name, request, start_workflow_operation=start, id=update_id, result_type=result_type
            )
            return result


@asynccontextmanager
async def answering(what: str, seconds: float) -> AsyncIterator[None]:
    """Temporal's errors in the desk's words."""
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError:
        raise DeskUnreachable(f"nobody has taken it for {seconds:g} s; does a worker run?") from None
    except RPCTimeoutOrCancelledError as error:
        raise DeskUnreachable(f"no answer within {seconds:g} s; does a worker run?") from error
    except WorkflowUpdateFailedError as error:
        raise _refused(what, error.cause) from error
    except (WorkflowQueryFailedError, WorkflowQueryRejectedError) as error:
        raise Refused("QueryFailed", str(error)) from error
    except RPCError as error:
        raise _of_rpc(what, error) from error


def _of_rpc(what: str, error: RPCError) -> Exception:
    if error.status is RPCStatusCode.NOT_FOUND:
        return NoSuchTask(what)
    if error.status in _WAITING:
        return DeskUnreachable(f"Temporal: {error.status.name.lower()}: {error.message}")
    return Refused(error.status.name, error.message)


def _refused(what: str, cause: BaseException) -> Refused:
    code = cause.type if isinstance(cause, ApplicationError) and cause.type else type(cause).__name__
    text = cause.message if isinstance(cause, ApplicationError) else str(cause)
    _log.warning("%s refused: %s: %s", what, code, text)
    return Refused(code, text)


def _listing(user_id: str | None) -> str:
    query = "WorkflowType = 'TaskWorkflow'"
    if user_id is None:
        return query
    if set("'\"\\") & set(user_id):
        raise Refused("BadUser", f"a user id has no quotes: {user_id!r}")
    return f"{query} AND {search.USER_ID.name} = '{user_id}'"


def _summary(execution: WorkflowExecution, goal: str) -> TaskSummary:
    attributes = execution.typed_search_attributes
    phase = attributes.get(search.TASK_PHASE)
    return TaskSummary(
        task_id=execution.id.partition("/")[2],
        run_id=execution.run_id,
        open=execution.status is WorkflowExecutionStatus.RUNNING,
        phase=Phase(phase) if phase in set(Phase) else None,
        user_id=attributes.get(search.USER_ID) or "",
        channel=attributes.get(search.CHANNEL) or "",
        goal=goal,
        started_at=execution.start_time,
        closed_at=execution.close_time,
    )
