"""A halted task stands still and says so, does the same call again after the lift, and ends when it is killed."""

import pytest
from temporalio.client import Client, WorkflowFailureError
from temporalio.exceptions import ApplicationError, CancelledError

from contracts import errors
from contracts.activities import RunOutcome, RunRequest
from contracts.planning import NextStep, PlanRequest, Reply
from contracts.task import Phase
from tests.brakes import kill_of
from tests.workflows.saying import scripted
from tests.workflows.stage import Script, call, calls, ok, on_stage
from workers.killing import orders


def halted(*details: object) -> ApplicationError:
    return ApplicationError("the kill switch was pulled", *details, type=errors.HALTED, non_retryable=True)


@pytest.mark.replayed
async def test_a_halted_call_waits_for_the_lift_and_is_made_again(client: Client) -> None:
    script = scripted(calls(call(script="ls")), Reply(text="done"))

    def tool(request: RunRequest) -> RunOutcome:
        if script.halted:
            raise halted(False)
        return ok(request)

    script.tool, script.halted = tool, True
    async with on_stage(client, script) as on:
        handle = await on.start()
        status = await on.until(handle, lambda status: status.phase is Phase.PAUSED)
        assert status.notes == ("halted",)

        script.halted = False

        assert (await handle.result()).answer == "done"
        assert {run.judged.call.call_id for run in script.runs} == {script.runs[0].judged.call.call_id}
        assert [run.earlier for run in script.runs] == [None] * len(script.runs)
        assert (await on.until(handle, lambda status: True)).notes == ()


async def test_a_call_that_had_begun_is_told_so_when_it_is_made_again(client: Client) -> None:
    script = scripted(calls(call(script="ls")), Reply(text="done"))

    def tool(request: RunRequest) -> RunOutcome:
        if len(script.runs) == 1:
            raise halted(True)
        return ok(request)

    script.tool = tool
    async with on_stage(client, script) as on:
        await (await on.start()).result()

        assert script.runs[0].earlier is None
        assert script.runs[1].earlier is not None
        assert script.runs[1].earlier.lease == script.runs[0].lease


async def test_calls_that_are_halted_together_wait_once_and_a_thought_waits_as_well(client: Client) -> None:
    script = Script(halted=True)

    def plan(request: PlanRequest) -> NextStep:
        if script.halted and len(script.plans) > 1:
            raise halted()
        return Reply(text="done") if len(script.runs) > 3 else calls(call(call_id="a"), call(call_id="b"))

    def tool(request: RunRequest) -> RunOutcome:
        if script.halted:
            raise halted(False)
        return ok(request)

    script.plan_step, script.tool = plan, tool
    async with on_stage(client, script) as on:
        handle = await on.start()
        await on.until(handle, lambda status: status.phase is Phase.PAUSED)
        script.halted = False
        result = await handle.result()

        assert result.outcome == "done"
        waits = [
            event
            async for event in handle.fetch_history_events()
            if event.activity_task_scheduled_event_attributes.activity_type.name == "await_lift"
        ]
        assert len(waits) == 1


@pytest.mark.parametrize("while_waiting", [True, False])
async def test_a_killed_task_ends_as_cancelled_and_says_by_whom(client: Client, while_waiting: bool) -> None:
    script = scripted(calls(call("ask_user")), Reply(text="done"))
    script.halted = while_waiting

    def tool(request: RunRequest) -> RunOutcome:
        if script.halted:
            raise halted(False)
        return ok(request)

    async def thinks(request: PlanRequest) -> NextStep:
        if while_waiting:
            return calls(call("ask_user"))
        script.lifts.append("planning")
        raise halted()

    script.tool, script.plan_step = tool, thinks
    async with on_stage(client, script) as on:
        given = on.input()
        handle = await on.start(given)
        await on.until(handle, lambda status: bool(script.lifts))
        task_id = given.record.task_id

        assert await orders.cancel(client, kill_of(task_id)) == (task_id,)

        with pytest.raises(WorkflowFailureError) as ended:
            await handle.result()
        assert isinstance(ended.value.cause, CancelledError)
        status = await on.until(handle, lambda status: True)
        assert (status.phase, status.answer) == (Phase.CANCELLED, "killed by console:anna")
