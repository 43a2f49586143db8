"""What a task does with a yes, a no and a change of circumstances, on the real engine."""

import asyncio
from datetime import UTC, datetime

import pytest
from temporalio.client import Client, WorkflowHandle

from contracts import errors
from contracts.activities import ApprovalNote
from contracts.approvals import Shape, StepUp, approval_purpose
from contracts.messages import HostGrant
from contracts.planning import Reply
from contracts.task import Approval, ApprovalSignal, TaskResult
from contracts.transcript import ToolTurn
from contracts.verdicts import Allow, Ask, Deny, Reason, Verdict
from tests.workflows.life import alone
from tests.workflows.saying import decision, refusal, scripted
from tests.workflows.stage import USER, Script, Stage, call, calls, failed, ok
from workflows.task import TaskWorkflow

pytestmark = pytest.mark.asyncio(loop_scope="module")

Handle = WorkflowHandle[TaskWorkflow, TaskResult]
DONE = Reply(text="done")
ASK = Ask(reasons=(Reason(rule="url.unlisted", detail="x.test"),), risk=40, aim="out:x.test")


def asking(**changes: object) -> Verdict:
    return ASK.model_copy(update=changes)


async def question(on: Stage, handle: Handle, after: Approval | None = None) -> Approval:
    """The next card."""
    seen = await on.until(handle, lambda status: status.approval not in (None, after))
    assert seen.approval is not None
    return seen.approval


async def decide(handle: Handle, approval: Approval, **changes: object) -> None:
    given = decision(approval).model_copy(update=changes)
    await handle.execute_update(TaskWorkflow.decide, given)


def turns(script: Script, step: int) -> list[ToolTurn]:
    """The results that the planner read before a step."""
    return [turn for turn in script.plans[step - 1].additions if isinstance(turn, ToolTurn)]


def told(script: Script) -> list[ApprovalNote]:
    """What was put on record; a lost workflow task may put the same there twice."""
    return [note for number, note in enumerate(script.noted) if note not in script.noted[:number]]


async def test_the_calls_of_a_step_that_ask_share_one_card_and_a_yes_covers_exactly_these(client: Client) -> None:
    first, second, harmless = call(script="a"), call(script="b"), call(script="harmless")
    later = call(script="c", after=(first.call_id,))
    script = scripted(calls(first, second, harmless, later), DONE)
    script.verdict = lambda request: Allow() if request.call.summary.endswith("harmless") else asking()
    async with alone(client, script) as on:
        handle = await on.start()
        plan = await question(on, handle)
        await decide(handle, plan)
        single = await question(on, handle, after=plan)
        await decide(handle, single, approve=False)
        await handle.result()

    assert [each.call_id for each in plan.covers] == [first.call_id, second.call_id]
    assert [each.call_id for each in single.covers] == [later.call_id]
    used = {run.judged.call.call_id: run.approval for run in script.runs}
    assert used == {first.call_id: plan, second.call_id: plan, harmless.call_id: None}


async def test_a_no_to_a_plan_denies_all_of_it(client: Client) -> None:
    script = scripted(calls(call(script="a"), call(script="b")), DONE)
    script.verdict = lambda _: asking()
    async with alone(client, script) as on:
        handle = await on.start()
        await decide(handle, await question(on, handle), approve=False)
        await handle.result()

    assert script.runs == []
    assert [turn.error for turn in turns(script, 2)] == ["denied", "denied"]


async def test_after_two_denials_of_one_aim_no_way_to_it_is_asked_or_tried(client: Client) -> None:
    ways = [calls(call(tool, script="x")) for tool in ("shell", "browse", "fetch", "shell")]
    script = scripted(*ways, DONE)
    script.verdict = lambda request: asking(aim="out:y.test" if request.call == ways[3].calls[0] else "out:x.test")
    async with alone(client, script) as on:
        handle = await on.start()
        first = await question(on, handle)
        await decide(handle, first, approve=False)
        second = await question(on, handle, after=first)
        await decide(handle, second, approve=False)
        other = await question(on, handle, after=second)
        await decide(handle, other)
        await handle.result()
        notes = (await handle.query(TaskWorkflow.status)).notes

    assert other.call_id == ways[3].calls[0].call_id
    assert [run.judged.call.call_id for run in script.runs] == [other.call_id]
    assert "no to this twice (out:x.test)" in turns(script, 4)[0].headline
    assert notes == ("stops_trying",)


async def test_a_call_whose_circumstances_change_is_judged_and_asked_anew(client: Client) -> None:
    script = scripted(calls(call(script="a")), DONE)
    script.verdict = lambda _: asking()
    script.tool = lambda request: failed(request, "changed") if len(script.runs) == 1 else ok(request)
    async with alone(client, script) as on:
        handle = await on.start()
        first = await question(on, handle)
        await decide(handle, first)
        second = await question(on, handle, after=first)
        await decide(handle, second)
        await handle.result()

    assert [run.approval for run in script.runs] == [first, second]
    assert turns(script, 2)[0].ok


async def test_a_call_that_never_stops_changing_is_given_up(client: Client) -> None:
    script = scripted(calls(call(script="a")), DONE)
    script.tool = lambda request: failed(request, "changed")
    async with alone(client, script) as on:
        await (await on.start()).result()

    assert len(script.runs) == 3
    assert turns(script, 2)[0].error == "changed"


async def test_what_became_denied_after_a_yes_does_not_run(client: Client) -> None:
    verdicts = iter([asking(), Deny(reasons=(Reason(rule="url.blocked", detail="x.test"),))])
    script = scripted(calls(call(script="a")), DONE)
    script.verdict = lambda _: next(verdicts)
    script.tool = lambda request: failed(request, "changed")
    async with alone(client, script) as on:
        handle = await on.start()
        await decide(handle, await question(on, handle))
        await handle.result()

    assert turns(script, 2)[0].error == "denied"


async def test_files_of_the_call_are_looked_at_where_there_is_a_sandbox_and_are_absent_before(client: Client) -> None:
    script = scripted(calls(call(script="a.sh")), calls(call(script="b.sh")), DONE)
    script.verdict = lambda _: asking()
    script.operands, script.content = ("/workspace/a.sh",), {"/workspace/a.sh": "1" * 64}
    async with alone(client, script) as on:
        handle = await on.start()
        before = await question(on, handle)
        await decide(handle, before)
        after = await question(on, handle, after=before)
        await decide(handle, after)
        await handle.result()

    bounds = [each.covers[0].bound for each in (before, after)]
    assert [bound.operands for bound in bounds if bound] == [
        {"/workspace/a.sh": "absent"},
        {"/workspace/a.sh": "1" * 64},
    ]
    assert len(script.looks) == 1


async def test_a_yes_opens_its_hosts_for_later_calls_and_not_for_the_question_it_answers(client: Client) -> None:
    grant = HostGrant(host="x.test")
    script = scripted(calls(call(script="a")), calls(call(script="b")), DONE)
    script.verdict = lambda request: Allow() if grant in request.approved_hosts else asking(egress=(grant,))
    async with alone(client, script) as on:
        handle = await on.start()
        await decide(handle, await question(on, handle))
        await handle.result()

    assert [run.judged.approved_hosts for run in script.runs] == [(), (grant,)]


async def test_a_yes_that_needs_a_second_factor_is_refused_without_one_on_every_way(client: Client) -> None:
    script = scripted(calls(call(script="pay")), DONE)
    script.verdict = lambda _: asking(step_up=True)
    async with alone(client, script) as on:
        handle = await on.start()
        asked = await question(on, handle)
        purpose = approval_purpose(asked.approval_id, asked.digest)
        good = StepUp(purpose=purpose, by=USER, at=datetime.now(UTC), proof="looked at where the keys are")
        refused = [
            await refusal(decide(handle, asked)),
            await refusal(decide(handle, asked, step_up=good.model_copy(update={"purpose": "lift:k1"}))),
            await refusal(decide(handle, asked, step_up=good.model_copy(update={"by": "console:2"}))),
        ]
        await handle.signal(TaskWorkflow.approve, ApprovalSignal(approval_id=asked.approval_id))
        still = await question(on, handle)
        await decide(handle, asked, step_up=good)
        await handle.result()

    assert refused == [errors.NEEDS_STEP_UP] * 3
    assert still == asked
    assert [run.step_up for run in script.runs] == [good]


async def test_only_what_has_a_shape_is_allowed_for_good(client: Client) -> None:
    shape = Shape(tool="shell", parts={"host": "x.test:443"})
    script = scripted(calls(call(script="a")), calls(call(script="b")), DONE)
    script.verdict = lambda request: asking(shape=shape if request.call.summary.endswith("b") else None)
    async with alone(client, script) as on:
        handle = await on.start()
        first = await question(on, handle)
        refused = await refusal(decide(handle, first, always="person"))
        await decide(handle, first)
        await decide(handle, await question(on, handle, after=first), always="task")
        await handle.result()

    assert refused == errors.NOT_ALLOWED
    assert [(note.event, note.decision and note.decision.always) for note in told(script)] == [
        ("asked", None),
        ("decided", ""),
        ("asked", None),
        ("decided", "task"),
    ]


async def test_a_question_of_a_stopped_task_is_on_record_as_given_up(client: Client) -> None:
    script = scripted(calls(call(script="a"), call(script="b")), DONE)
    script.verdict = lambda _: asking()
    async with alone(client, script) as on:
        handle = await on.start()
        asked = await question(on, handle)
        await handle.cancel()
        ended = await on.until(handle, lambda status: status.outcome is not None)

    assert ended.approval is None
    assert [(note.event, note.approval) for note in told(script)] == [("asked", asked), ("given_up", asked)]


async def test_of_many_decisions_at_once_and_afterwards_one_counts(client: Client) -> None:
    """A sample of the abuses in approval_abuse.py, on the engine itself."""
    script = scripted(calls(call(script="a")), calls(call(script="b")), DONE)
    script.verdict = lambda _: asking(step_up=False)
    async with alone(client, script) as on:
        handle = await on.start()
        first = await question(on, handle)
        abuses = [
            {"digest": "0" * 64},
            {"args_sha256": "0" * 64},
            {"call_id": "c0"},
            {"approval_id": "zzzzz"},
            {"by": "telegram:9"},
            {"always": "person"},
        ]
        for change in abuses:
            assert await refusal(decide(handle, first, **change)) in (errors.STALE_APPROVAL, errors.NOT_ALLOWED)
        taps = [decide(handle, first, approve=number % 2 == 0) for number in range(20)]
        results = await asyncio.gather(*taps, return_exceptions=True)
        second = await question(on, handle, after=first)
        assert await refusal(decide(handle, first)) == errors.ALREADY_DECIDED
        await decide(handle, second, approve=False)
        await handle.result()

    assert sum(not isinstance(each, BaseException) for each in results) == 1
    assert len([note for note in told(script) if note.event == "decided"]) == 2
    assert all(run.approval == first for run in script.runs)
