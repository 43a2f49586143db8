"""One chat with the mailbox, as the gateway would hold it."""

import asyncio
import uuid
from datetime import UTC, datetime

from temporalio.client import WithStartWorkflowOperation, WorkflowHandle
from temporalio.common import WorkflowIDConflictPolicy
from temporalio.service import RPCError, RPCStatusCode

from contracts.conversation import Accepted, ConversationInput, ConversationState, Delivered
from contracts.messages import Address, Chat, Content, Message, Sender
from contracts.queues import WORKFLOWS, task_workflow_id
from contracts.transcript import UserTurn
from tests.workflows.stage import Script, Stage
from workflows.conversation import ConversationWorkflow

CHAT = "chat/telegram/7"


def message(text: str, message_id: str | None = None) -> Delivered:
    return Delivered(
        message=Message(
            message_id=message_id or uuid.uuid4().hex,
            platform="telegram",
            channel=Chat(type="dm", id="7"),
            sender=Sender(id="7"),
            content=Content(text=text),
            timestamp=datetime.now(UTC),
        ),
        address=Address(channel="telegram", chat_id="7"),
        pushes=False,
    )


async def send(
    on: Stage,
    delivered: Delivered,
    *,
    chat: str = CHAT,
    state: ConversationState | None = None,
    update_id: str | None = None,
) -> Accepted:
    """What the gateway does for a message; it takes the message's id for the update too."""
    given = ConversationInput(conversation_id=chat, state=state or ConversationState())
    start = WithStartWorkflowOperation(
        ConversationWorkflow.run,
        given,
        id=chat,
        task_queue=WORKFLOWS,
        id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
    )
    return await on.client.execute_update_with_start_workflow(
        ConversationWorkflow.receive,
        delivered,
        start_workflow_operation=start,
        id=update_id or delivered.message.message_id,
    )


def conversation(on: Stage, chat: str = CHAT) -> WorkflowHandle[ConversationWorkflow, None]:
    return on.client.get_workflow_handle_for(ConversationWorkflow.run, chat)


async def end(on: Stage, task_id: str | None) -> None:
    """Wait until the task has ended; it may begin after the receipt that names it."""
    assert task_id is not None
    async with asyncio.timeout(60):
        while True:
            try:
                await on.client.get_workflow_handle(task_workflow_id(task_id)).result()
            except RPCError as error:
                if error.status is not RPCStatusCode.NOT_FOUND:
                    raise
                await asyncio.sleep(0.03)
            else:
                return


async def signalled(on: Stage, task_id: str | None) -> None:
    """Wait until a signal is in the task's history."""
    handle = on.client.get_workflow_handle(task_workflow_id(str(task_id)))
    async with asyncio.timeout(60):
        async for event in handle.fetch_history_events(wait_new_event=True):
            if event.HasField("workflow_execution_signaled_event_attributes"):
                return


def requests(script: Script) -> list[str]:
    """The first words of each task, in the order in which they began."""
    return [
        turn.text for plan in script.plans if plan.step == 1 for turn in plan.additions if isinstance(turn, UserTurn)
    ]


async def waiting(on: Stage, state: str, chat: str = CHAT) -> ConversationState:
    async with asyncio.timeout(60):
        while True:
            seen = await conversation(on, chat).query(ConversationWorkflow.state)
            if (state == "asked" and seen.question_id) or (state == "idle" and not seen.current_task_id):
                return seen
            await asyncio.sleep(0.03)
