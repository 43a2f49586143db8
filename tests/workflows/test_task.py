"""The life of one task, against a real server."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest
from temporalio.client import WorkflowFailureError
from temporalio.exceptions import ApplicationError, CancelledError

from contracts import errors
from contracts.activities import RunOutcome, RunRequest
from contracts.lifecycle import SandboxState
from contracts.planning import AskUser, NextStep, PlanRequest, Reply
from contracts.task import (
    ApprovalSignal,
    GivenAnswer,
    Limits,
    PauseRequest,
    Phase,
    Says,
    SetBudget,
)
from contracts.transcript import ToolTurn, UserTurn
from contracts.verdicts import Deny, Reason
from tests.workflows.life import signalled
from tests.workflows.saying import asks, decision, refusal, says, scripted
from tests.workflows.stage import USER, Script, call, calls, failed, ok, stage
from workflows.task import TaskWorkflow


async def test_a_task_without_tools_replies_and_needs_no_sandbox() -> None:
    async with stage(scripted(Reply(text="hello"))) as on:
        result = await (await on.start()).result()

        assert (result.answer, result.phase, result.outcome) == ("hello", Phase.COMPLETED, "done")
        assert on.script.leases == []


@pytest.mark.replayed
async def test_calls_run_in_one_sandbox_that_sleeps_once_the_task_has_ended() -> None:
    script = scripted(calls(call(script="ls")), calls(call(script="pwd")), Reply(text="done"))
    async with stage(script) as on:
        handle = await on.start()
        result = await handle.result()
        assert signalled(await handle.fetch_history()) == ["ended"]
        await on.until_sandbox(result.task_id, SandboxState.ASLEEP)

        assert [run.judged.call.summary for run in script.runs] == ["shell ls", "shell pwd"]
        assert script.asked == ["lease", "sleep"]


async def test_results_reach_the_planner_in_the_order_of_the_calls() -> None:
    async def slow_first(request: RunRequest) -> RunOutcome:
        await asyncio.sleep(0.3 if request.judged.call.call_id == "a" else 0)
        return ok(request)

    script = scripted(calls(call(call_id="a"), call(call_id="b")), Reply(text="done"))
    script.tool = slow_first
    async with stage(script) as on:
        await (await on.start()).result()

        assert [turn.call_id for turn in script.plans[1].additions if isinstance(turn, ToolTurn)] == ["a", "b"]


@pytest.mark.replayed
async def test_a_call_waits_for_the_calls_it_comes_after_and_is_skipped_if_one_failed() -> None:
    script = scripted(calls(call(call_id="b", after=("a",)), call(call_id="a")), Reply(text="done"))
    script.tool = failed
    async with stage(script) as on:
        await (await on.start()).result()

        assert [run.judged.call.call_id for run in script.runs] == ["a"]
        skipped = script.plans[1].additions[0]
        assert isinstance(skipped, ToolTurn)
        assert skipped.error == "skipped"


async def test_a_denied_call_never_runs_and_the_planner_learns_why() -> None:
    script = scripted(calls(call(script="rm -rf /")), Reply(text="not permitted"))
    script.verdict = lambda _: Deny(reasons=(Reason(rule="destroys", detail="/"),))
    async with stage(script) as on:
        await (await on.start()).result()

        assert script.runs == []
        turn = script.plans[1].additions[0]
        assert isinstance(turn, ToolTurn)
        assert "destroys /" in turn.headline


@pytest.mark.replayed
async def test_an_approved_call_runs_with_its_approval() -> None:
    script = scripted(calls(call(script="rm x")), Reply(text="done"))
    script.verdict = asks
    async with stage(script) as on:
        handle = await on.start()
        status = await on.until(handle, lambda seen: seen.approval is not None)
        assert status.phase is Phase.AWAITING_APPROVAL
        assert status.approval is not None
        assert script.runs == []

        await handle.execute_update(TaskWorkflow.decide, decision(status.approval))
        await handle.result()

        assert script.runs[0].approval == status.approval


async def test_a_no_becomes_a_result_for_the_planner() -> None:
    script = scripted(calls(call(script="rm x")), Reply(text="left alone"))
    script.verdict = asks
    async with stage(script) as on:
        handle = await on.start()
        status = await on.until(handle, lambda seen: seen.approval is not None)
        assert status.approval is not None

        await handle.execute_update(TaskWorkflow.decide, decision(status.approval, approve=False, note="keep it"))
        await handle.result()

        turn = script.plans[1].additions[0]
        assert script.runs == []
        assert isinstance(turn, ToolTurn)
        assert "keep it" in turn.headline


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({"approval_id": "zzzzz"}, errors.STALE_APPROVAL),
        ({"call_id": "other"}, errors.STALE_APPROVAL),
        ({"args_sha256": "0" * 64}, errors.STALE_APPROVAL),
        ({"by": "telegram:stranger"}, errors.NOT_ALLOWED),
        ({"by": ""}, errors.NOT_ALLOWED),
    ],
)
async def test_a_stale_changed_or_foreign_decision_is_refused(changes: dict[str, str], kind: str) -> None:
    script = scripted(calls(call(script="rm x")), Reply(text="done"))
    script.verdict = asks
    async with stage(script) as on:
        handle = await on.start()
        status = await on.until(handle, lambda seen: seen.approval is not None)
        assert status.approval is not None

        refused = await refusal(handle.execute_update(TaskWorkflow.decide, decision(status.approval, changes=changes)))

        assert refused == kind
        assert script.runs == []
        await handle.cancel()


async def test_a_decision_counts_once() -> None:
    script = scripted(calls(call(script="rm x")), calls(call(script="rm y")), Reply(text="done"))
    script.verdict = asks
    async with stage(script) as on:
        handle = await on.start()
        first = await on.until(handle, lambda seen: seen.approval is not None)
        assert first.approval is not None
        await handle.execute_update(TaskWorkflow.decide, decision(first.approval))
        await on.until(handle, lambda seen: seen.approval not in (None, first.approval))

        refused = await refusal(handle.execute_update(TaskWorkflow.decide, decision(first.approval)))

        assert refused == errors.ALREADY_DECIDED
        assert len(script.runs) == 1
        await handle.cancel()


async def test_an_approval_that_nobody_answers_expires_as_a_no() -> None:
    script = scripted(calls(call(script="rm x")), Reply(text="left alone"))
    script.verdict = asks
    async with stage(script) as on:
        given = on.input(limits=Limits(approval_hours=1 / 3600))

        await (await on.start(given)).result()

        assert script.runs == []


async def test_a_signal_from_the_temporal_ui_decides_by_the_same_rules() -> None:
    script = scripted(calls(call(script="rm x")), Reply(text="done"))
    script.verdict = asks
    async with stage(script) as on:
        handle = await on.start()
        status = await on.until(handle, lambda seen: seen.approval is not None)
        assert status.approval is not None

        await handle.signal(TaskWorkflow.approve, ApprovalSignal(approval_id="wrong"))
        await handle.signal(TaskWorkflow.approve, ApprovalSignal(approval_id=status.approval.approval_id))
        await handle.result()

        assert len(script.runs) == 1


@pytest.mark.replayed
async def test_a_question_of_the_planner_waits_for_words() -> None:
    script = scripted(AskUser(question="Which one?"), Reply(text="done"))
    async with stage(script) as on:
        handle = await on.start()
        status = await on.until(handle, lambda seen: seen.asked is not None)
        assert status.asked is not None
        answer = GivenAnswer(question_id=status.asked.question_id, turn=says("the red one"), by=USER)
        stale = answer.model_copy(update={"question_id": "other"})

        assert await refusal(handle.execute_update(TaskWorkflow.answer, stale)) == errors.STALE_QUESTION
        await handle.execute_update(TaskWorkflow.answer, answer)
        await handle.result()

        turn = script.plans[1].additions[0]
        assert isinstance(turn, UserTurn)
        assert (turn.text, turn.question_id) == ("the red one", status.asked.question_id)


async def test_a_full_disk_is_asked_about_and_a_word_lets_the_task_go_on() -> None:
    full = [True]

    def plan(_: PlanRequest) -> NextStep:
        if full:
            raise ApplicationError("the disk is full", type=errors.MACHINE_FULL, non_retryable=True)
        return Reply(text="done")

    async with stage(Script(plan_step=plan)) as on:
        handle = await on.start()
        status = await on.until(handle, lambda seen: seen.asked is not None)
        assert status.asked is not None
        assert "the disk is full" in status.asked.question

        full.clear()
        answer = GivenAnswer(question_id=status.asked.question_id, turn=says("try again"), by=USER)
        await handle.execute_update(TaskWorkflow.answer, answer)

        assert (await handle.result()).answer == "done"


async def test_what_is_said_while_the_planner_thinks_is_heard_before_the_task_ends() -> None:
    said, thinking = asyncio.Event(), asyncio.Event()

    async def think(request: PlanRequest) -> NextStep:
        if request.step == 1:
            thinking.set()
            await said.wait()
        return Reply(text=f"reply {request.step}")

    script = Script(plan_step=think)
    async with stage(script) as on:
        handle = await on.start()
        await thinking.wait()
        await handle.execute_update(TaskWorkflow.say, Says(turn=says("one more thing"), by=USER))
        again = await handle.execute_update(TaskWorkflow.say, Says(turn=says("one more thing"), by=USER))
        said.set()
        result = await handle.result()

        assert again.duplicate
        assert result.answer == "reply 2"
        assert [turn.text for turn in script.plans[1].additions if isinstance(turn, UserTurn)] == ["one more thing"]


async def test_a_paused_task_starts_no_call_until_it_is_resumed() -> None:
    thinking, release = asyncio.Event(), asyncio.Event()

    async def think(request: PlanRequest) -> NextStep:
        if request.step == 1:
            thinking.set()
            await release.wait()
            return calls(call(script="ls"))
        return Reply(text="done")

    script = Script(plan_step=think)
    async with stage(script) as on:
        handle = await on.start()
        await thinking.wait()
        await handle.execute_update(TaskWorkflow.pause, PauseRequest(by=USER))
        release.set()
        await on.until(handle, lambda seen: seen.phase is Phase.PAUSED)
        assert script.runs == []

        await handle.execute_update(TaskWorkflow.resume, PauseRequest(by=USER))
        result = await handle.result()

        assert len(script.runs) == 1
        assert result.outcome == "done"


@pytest.mark.replayed
async def test_an_interrupting_pause_stops_the_running_call() -> None:
    begun = asyncio.Event()

    async def endless(request: RunRequest) -> RunOutcome:
        begun.set()
        await asyncio.sleep(600)
        return ok(request)

    script = scripted(calls(call(script="sleep 600")), Reply(text="done"))
    script.tool = endless
    async with stage(script) as on:
        handle = await on.start()
        await begun.wait()
        await handle.execute_update(TaskWorkflow.pause, PauseRequest(by=USER, interrupt=True))
        await on.until(handle, lambda seen: seen.phase is Phase.PAUSED)
        await handle.execute_update(TaskWorkflow.resume, PauseRequest(by=USER))
        await handle.result()

        turn = script.plans[1].additions[0]
        assert isinstance(turn, ToolTurn)
        assert turn.error == "interrupted"


@pytest.mark.replayed
async def test_a_stopped_task_cancels_its_call_and_lets_the_sandbox_sleep() -> None:
    begun = asyncio.Event()
    ended = asyncio.Event()

    async def endless(request: RunRequest) -> RunOutcome:
        begun.set()
        try:
            await asyncio.sleep(600)
        finally:
            ended.set()
        return ok(request)

    script = scripted(calls(call(script="sleep 600")))
    script.tool = endless
    async with stage(script) as on:
        handle = await on.start()
        await begun.wait()
        await handle.cancel(reason="enough")
        with pytest.raises(WorkflowFailureError) as caught:
            await handle.result()

        status = await handle.query(TaskWorkflow.status)
        assert isinstance(caught.value.cause, CancelledError)
        assert ended.is_set()
        await on.until_sandbox(status.record.task_id, SandboxState.ASLEEP)
        assert (status.phase, status.answer) == (Phase.CANCELLED, "enough")


async def test_a_stop_ends_a_task_that_waits_for_an_approval() -> None:
    script = scripted(calls(call(script="rm x")))
    script.verdict = asks
    async with stage(script) as on:
        handle = await on.start()
        await on.until(handle, lambda seen: seen.approval is not None)
        await handle.cancel()
        with pytest.raises(WorkflowFailureError):
            await handle.result()

        status = await handle.query(TaskWorkflow.status)
        assert (status.phase, status.approval) == (Phase.CANCELLED, None)


async def test_the_same_failing_call_ends_in_a_question_however_long_it_took() -> None:
    def slower_each_time(request: RunRequest) -> RunOutcome:
        outcome = failed(request)
        headline = f"Exit code 1 after {len(script.runs)}.0 s"
        return outcome.model_copy(update={"turn": outcome.turn.model_copy(update={"headline": headline})})

    def think(request: PlanRequest) -> NextStep:
        heard = [turn for turn in request.additions if isinstance(turn, UserTurn) and turn.question_id]
        return Reply(text="changed plan") if heard else calls(call(script="false"))

    script = Script(plan_step=think, tool=slower_each_time)
    async with stage(script) as on:
        handle = await on.start()
        status = await on.until(handle, lambda seen: seen.asked is not None)
        assert status.asked is not None
        assert len(script.runs) == 3

        answer = GivenAnswer(question_id=status.asked.question_id, turn=says("try something else"), by=USER)
        await handle.execute_update(TaskWorkflow.answer, answer)

        assert (await handle.result()).answer == "changed plan"


@pytest.mark.replayed
async def test_a_lost_sandbox_is_replaced_under_a_higher_epoch_and_a_repeatable_call_is_run_again() -> None:
    def lost_once(request: RunRequest) -> RunOutcome:
        if len(script.runs) == 1:
            script.dies()
            raise ApplicationError("gone", type=errors.SANDBOX_LOST, non_retryable=True)
        return ok(request)

    script = scripted(calls(call(script="ls")), Reply(text="done"))
    script.repeatable = True
    script.tool = lost_once
    async with stage(script) as on:
        await (await on.start()).result()

        assert [request.previous_epoch for request in script.leases] == [0, 1]
        assert [run.lease.epoch for run in script.runs if run.lease] == [1, 2]


async def test_a_call_that_may_have_had_its_effect_is_not_repeated_when_its_sandbox_is_lost() -> None:
    def lost(request: RunRequest) -> RunOutcome:
        raise ApplicationError("gone", type=errors.SANDBOX_LOST, non_retryable=True)

    script = scripted(calls(call(script="pay")), Reply(text="done"))
    script.tool = lost
    async with stage(script) as on:
        await (await on.start()).result()

        turns = [turn for turn in script.plans[1].additions if isinstance(turn, ToolTurn)]
        assert len(script.runs) == 1
        assert turns[0].error == "sandbox_lost"


async def test_without_any_sandbox_the_person_is_asked_and_may_give_up() -> None:
    script = scripted(calls(call(script="ls")))

    def no_engine(_: str) -> None:
        raise ApplicationError("no engine answers.", type=errors.SANDBOX_UNAVAILABLE, non_retryable=True)

    script.trouble = no_engine
    async with stage(script) as on:
        handle = await on.start()
        status = await on.until(handle, lambda seen: seen.asked is not None)
        assert status.asked is not None
        assert "no engine answers" in status.asked.question
        answer = GivenAnswer(question_id=status.asked.question_id, turn=says("stop"), by=USER)
        await handle.execute_update(TaskWorkflow.answer, answer)
        with pytest.raises(WorkflowFailureError):
            await handle.result()

        assert (await handle.query(TaskWorkflow.status)).phase is Phase.FAILED


async def test_a_refusing_provider_ends_the_task_with_its_name() -> None:
    def refuse(_: PlanRequest) -> NextStep:
        raise ApplicationError("the key is wrong; set ASOS_MODEL_API_KEY", type="authentication", non_retryable=True)

    async with stage(Script(plan_step=refuse)) as on:
        handle = await on.start()
        with pytest.raises(WorkflowFailureError):
            await handle.result()

        status = await handle.query(TaskWorkflow.status)
        assert "authentication" in status.answer
        assert "ASOS_MODEL_API_KEY" in status.answer


async def test_a_failed_outcome_shows_as_a_failed_workflow() -> None:
    async with stage(scripted(Reply(text="I could not", outcome="failed"))) as on:
        handle = await on.start()
        with pytest.raises(WorkflowFailureError) as caught:
            await handle.result()

        assert isinstance(caught.value.cause, ApplicationError)
        assert caught.value.cause.type == errors.TASK_FAILED


@pytest.mark.replayed
async def test_state_crosses_a_continue_as_new() -> None:
    steps = [calls(call(script=f"echo {number}")) for number in range(8)]
    script = scripted(*steps, Reply(text="done"))
    async with stage(script) as on:
        given = on.input(limits=Limits(continue_after_events=40))
        handle = await on.start(given)
        result = await handle.result()

        runs = [each async for each in on.client.list_workflows(f"WorkflowId = '{handle.id}'")]
        assert len(runs) > 1
        assert result.steps == 9
        assert [plan.step for plan in script.plans] == list(range(1, 10))
        assert len(script.leases) == 1


async def test_a_message_heard_before_a_continue_as_new_is_dropped_after_it() -> None:
    steps = [calls(call(script=f"echo {number}")) for number in range(6)]
    script = scripted(*steps, AskUser(question="More?"), Reply(text="done"))
    async with stage(script) as on:
        given = on.input(limits=Limits(continue_after_events=30))
        handle = await on.start(given)
        await handle.execute_update(TaskWorkflow.say, Says(turn=says("psst", "m7"), by=USER))
        handle = on.client.get_workflow_handle_for(TaskWorkflow.run, handle.id)
        await on.until(handle, lambda seen: seen.asked is not None)

        again = await handle.execute_update(TaskWorkflow.say, Says(turn=says("psst", "m7"), by=USER))

        assert again.duplicate
        await handle.cancel()


async def test_a_passed_deadline_ends_the_task_truthfully() -> None:
    async with stage(scripted(Reply(text="late"))) as on:
        given = on.input()
        record = given.record.model_copy(update={"deadline": datetime.now(UTC) - timedelta(minutes=1)})
        handle = await on.start(given.model_copy(update={"record": record}))
        with pytest.raises(WorkflowFailureError):
            await handle.result()

        assert (await handle.query(TaskWorkflow.status)).outcome == "failed"


async def test_a_budget_below_what_is_spent_is_refused() -> None:
    script = scripted(AskUser(question="?"))
    async with stage(script) as on:
        handle = await on.start()
        await on.until(handle, lambda seen: seen.asked is not None)

        assert await refusal(handle.execute_update(TaskWorkflow.set_budget, SetBudget(budget_usd=0.001, by=USER)))
        await handle.cancel()


async def test_a_pushing_channel_sees_progress_and_one_final_view() -> None:
    script = scripted(calls(call(script="ls")), Reply(text="done"))
    async with stage(script) as on:
        handle = await on.start(on.input(pushes=True))
        await handle.result()

        finals = [each for each in script.delivered if each.final]
        sequences = [each.status.sequence for each in script.delivered]
        assert len(finals) == 1
        assert finals[0].status.answer == "done"
        assert len(script.delivered) > 1
        assert sequences == sorted(sequences)


async def test_without_a_cache_every_workflow_task_replays_and_nothing_differs() -> None:
    script = scripted(calls(call(script="a"), call(script="b")), calls(call(script="c")), Reply(text="done"))
    async with stage(script, cached=0) as on:
        handle = await on.start(on.input(pushes=True))

        assert (await handle.result()).answer == "done"
        history = await handle.fetch_history()
        assert not [event for event in history.events if event.HasField("workflow_task_failed_event_attributes")]


async def test_a_person_who_does_not_answer_is_reminded() -> None:
    script = scripted(calls(call(script="rm x")), Reply(text="done"))
    script.verdict = asks
    async with stage(script) as on:
        given = on.input(pushes=True, limits=Limits(remind_after_minutes=0.02))
        handle = await on.start(given)
        status = await on.until(handle, lambda seen: seen.approval is not None)
        first = status.sequence
        await on.until(handle, lambda seen: seen.sequence > first)

        shown = [each.status for each in script.delivered if each.status.approval is not None]
        assert script.runs == []
        await handle.cancel()
        assert shown[0].approval == status.approval


async def test_more_calls_than_fit_on_a_card_are_put_one_after_the_other() -> None:
    script = scripted(calls(call(script="rm a" * 500), call(script="rm b" * 500)), Reply(text="done"))
    script.verdict = asks
    async with stage(script) as on:
        handle = await on.start()
        first = await on.until(handle, lambda seen: seen.approval is not None)
        assert first.approval is not None
        await handle.execute_update(TaskWorkflow.decide, decision(first.approval))
        second = await on.until(handle, lambda seen: seen.approval not in (None, first.approval))
        assert second.approval is not None
        await handle.execute_update(TaskWorkflow.decide, decision(second.approval, approve=False))
        await handle.result()

        assert [run.judged.call.summary for run in script.runs] == [first.approval.summary]
