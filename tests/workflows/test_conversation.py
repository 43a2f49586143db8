"""The mailbox of one chat, against a real server."""

import asyncio

import pytest
from temporalio.client import WorkflowUpdateFailedError
from temporalio.exceptions import ApplicationError

from contracts.conversation import ConversationState, SetMode
from contracts.planning import AskUser, NextStep, PlanRequest, Reply
from contracts.queues import task_workflow_id
from contracts.transcript import UserTurn
from tests.workflows.chat import conversation, end, message, requests, send, signalled, waiting
from tests.workflows.stage import Script, stage
from workflows import limits
from workflows.conversation import ConversationWorkflow
from workflows.task import TaskWorkflow


async def test_the_same_message_five_times_starts_one_task() -> None:
    script = Script()
    async with stage(script) as on:
        five = await asyncio.gather(*(send(on, message("hello", "m1")) for _ in range(5)))
        await end(on, five[0].task_id)
        late = await send(on, message("hello", "m1"), update_id="of another gateway")

        assert len({each.task_id for each in five}) == 1
        assert late.task_id == five[0].task_id
        assert requests(script) == ["hello"]


async def test_a_message_during_a_task_waits_for_its_end_and_keeps_its_order() -> None:
    go = asyncio.Event()

    async def think(request: PlanRequest) -> NextStep:
        await go.wait()
        return Reply(text="done")

    script = Script(plan_step=think)
    async with stage(script) as on:
        first = await send(on, message("one"))
        second = await send(on, message("two"))
        third = await send(on, message("three"))
        go.set()
        await waiting(on, "idle")

        assert (first.disposition, second.disposition, third.disposition) == ("started", "queued", "queued")
        assert (second.ahead, third.ahead) == (1, 2)
        assert requests(script) == ["one", "two", "three"]


@pytest.mark.replayed
async def test_in_steer_mode_a_message_joins_the_running_task() -> None:
    go, thinking = asyncio.Event(), asyncio.Event()

    async def think(request: PlanRequest) -> NextStep:
        thinking.set()
        await go.wait()
        return Reply(text="done")

    script = Script(plan_step=think)
    async with stage(script) as on:
        first = await send(on, message("one"))
        await conversation(on).execute_update(ConversationWorkflow.set_mode, SetMode(mode="steer"))
        await thinking.wait()
        second = await send(on, message("and two"))
        await signalled(on, first.task_id)
        go.set()
        await end(on, first.task_id)

        assert (second.disposition, second.task_id) == ("steered", first.task_id)
        assert [turn.text for turn in script.plans[1].additions if isinstance(turn, UserTurn)] == ["and two"]


@pytest.mark.replayed
async def test_the_next_message_answers_an_open_question() -> None:
    def think(request: PlanRequest) -> NextStep:
        return AskUser(question="Which?") if request.step == 1 else Reply(text="done")

    script = Script(plan_step=think)
    async with stage(script) as on:
        first = await send(on, message("one"))
        await waiting(on, "asked")
        second = await send(on, message("the red one"))
        await end(on, first.task_id)

        turn = script.plans[1].additions[0]
        assert second.disposition == "answered"
        assert isinstance(turn, UserTurn)
        assert turn.text == "the red one"
        assert turn.question_id


async def test_a_terminated_task_does_not_block_the_chat() -> None:
    thinking = asyncio.Event()

    async def think(request: PlanRequest) -> NextStep:
        if len(script.plans) == 1:
            thinking.set()
            await asyncio.sleep(3600)
        return Reply(text="done")

    script = Script(plan_step=think)
    async with stage(script) as on:
        first = await send(on, message("one"))
        await send(on, message("two"))
        assert first.task_id
        await thinking.wait()
        await on.client.get_workflow_handle(task_workflow_id(first.task_id)).terminate()
        await waiting(on, "idle")

        assert requests(script) == ["one", "two"]


async def test_a_new_run_of_the_mailbox_forgets_a_task_that_has_ended_and_serves_what_waits() -> None:
    script = Script()
    async with stage(script) as on:
        left_behind = ConversationState(current_task_id="gone", waiting=(message("waited"),))
        await send(on, message("new"), state=left_behind)
        await waiting(on, "idle")

        assert requests(script) == ["waited", "new"]


async def test_more_than_the_mailbox_holds_is_refused_aloud() -> None:
    async def think(request: PlanRequest) -> NextStep:
        await asyncio.sleep(3600)
        return Reply(text="never")

    async with stage(Script(plan_step=think)) as on:
        almost = tuple(message(f"{number}") for number in range(limits.WAITING_MESSAGES - 1))
        await send(on, message("first"), state=ConversationState(waiting=almost))

        async def send_more() -> None:
            for number in range(3):
                await send(on, message(f"one more {number}"))

        with pytest.raises(WorkflowUpdateFailedError) as caught:
            await send_more()

        assert isinstance(caught.value.cause, ApplicationError)
        assert caught.value.cause.type == "QueueFull"


async def test_a_task_outlives_its_conversation() -> None:
    go, thinking = asyncio.Event(), asyncio.Event()

    async def think(request: PlanRequest) -> NextStep:
        thinking.set()
        await go.wait()
        return Reply(text="done")

    async with stage(Script(plan_step=think)) as on:
        first = await send(on, message("one"))
        await thinking.wait()
        await conversation(on).terminate()
        go.set()
        assert first.task_id

        result = await on.client.get_workflow_handle_for(TaskWorkflow.run, task_workflow_id(first.task_id)).result()

        assert result.answer == "done"


async def test_without_a_cache_the_mailbox_replays_without_a_difference() -> None:
    script = Script()
    async with stage(script, cached=0) as on:
        for text in ("one", "two", "three"):
            await send(on, message(text))
        await waiting(on, "idle")

        history = await conversation(on).fetch_history()
        assert requests(script) == ["one", "two", "three"]
        assert not [event for event in history.events if event.HasField("workflow_task_failed_event_attributes")]
