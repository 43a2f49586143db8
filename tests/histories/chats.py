"""Scenarios of a chat's mailbox and the tasks that it starts."""

import asyncio

from temporalio.client import Client

from contracts.conversation import Accepted, SetMode
from contracts.planning import AskUser, NextStep, PlanRequest, Reply
from contracts.queues import task_workflow_id
from tests.histories.scenario import by_name
from tests.workflows.chat import conversation, end, message, send, waiting
from tests.workflows.saying import scripted
from tests.workflows.stage import Script, Stage, on_stage
from workflows.conversation import ConversationWorkflow


def _told(chat: str, *accepted: Accepted) -> list[str]:
    """The mailbox, and the tasks that it started."""
    return [chat, *dict.fromkeys(task_workflow_id(each.task_id) for each in accepted if each.task_id)]


def _held() -> tuple[Script, asyncio.Event, asyncio.Event]:
    """A planner that thinks until it may go on, and the word that it has begun."""
    thinking, go = asyncio.Event(), asyncio.Event()

    async def think(request: PlanRequest) -> NextStep:
        thinking.set()
        await go.wait()
        return Reply(text="done")

    return Script(plan_step=think), thinking, go


async def chat_queued(client: Client) -> list[str]:
    chat = "chat/telegram/queued"
    script, _, go = _held()
    async with on_stage(client, script) as on:
        first = await send(on, message("one", "m1"), chat=chat)
        await send(on, message("two", "m2"), chat=chat)
        await send(on, message("one", "m1-again"), chat=chat)
        go.set()
        await waiting(on, "idle", chat)
        return _told(chat, first)


async def chat_duplicate(client: Client) -> list[str]:
    chat = "chat/telegram/duplicate"
    async with on_stage(client, Script()) as on:
        first = await send(on, message("hello", "m1"), chat=chat)
        await end(on, first.task_id)
        await waiting(on, "idle", chat)
        update = conversation(on, chat).execute_update
        await update(ConversationWorkflow.receive, message("hello", "m1"), id="delivered-again")
        return _told(chat, first)


async def chat_steered(client: Client) -> list[str]:
    chat = "chat/telegram/steered"
    script, thinking, go = _held()
    async with on_stage(client, script) as on:
        first = await send(on, message("one"), chat=chat)
        await conversation(on, chat).execute_update(ConversationWorkflow.set_mode, SetMode(mode="steer"))
        await thinking.wait()
        await send(on, message("and two"), chat=chat)
        await _heard(on, first)
        go.set()
        await end(on, first.task_id)
        await waiting(on, "idle", chat)
        return _told(chat, first)


async def _heard(on: Stage, accepted: Accepted) -> None:
    """Wait until the task has been told; the signal travels after the receipt."""
    assert accepted.task_id is not None
    handle = on.client.get_workflow_handle(task_workflow_id(accepted.task_id))
    async with asyncio.timeout(20):
        while True:
            events = (await handle.fetch_history()).events
            if any(event.HasField("workflow_execution_signaled_event_attributes") for event in events):
                return
            await asyncio.sleep(0.05)


async def chat_answered(client: Client) -> list[str]:
    chat = "chat/telegram/answered"
    async with on_stage(client, scripted(AskUser(question="Which?"), Reply(text="done"))) as on:
        first = await send(on, message("one"), chat=chat)
        await waiting(on, "asked", chat)
        await send(on, message("the red one"), chat=chat)
        await end(on, first.task_id)
        await waiting(on, "idle", chat)
        return _told(chat, first)


async def chat_with_a_terminated_task(client: Client) -> list[str]:
    chat = "chat/telegram/terminated"
    script, thinking, go = _held()
    async with on_stage(client, script) as on:
        first = await send(on, message("one"), chat=chat)
        await send(on, message("two"), chat=chat)
        await thinking.wait()
        assert first.task_id is not None
        await client.get_workflow_handle(task_workflow_id(first.task_id)).terminate()
        go.set()
        await waiting(on, "idle", chat)
        return _told(chat, first)


CHATS = by_name(chat_queued, chat_duplicate, chat_steered, chat_answered, chat_with_a_terminated_task)
