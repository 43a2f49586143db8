"""A task that meets a budget or a rate waits for its person or for the time, whichever is first."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from contracts import search
from contracts.activities import JudgeRequest
from contracts.blobs import BlobRef
from contracts.planning import AskUser, NextStep, PlanOutcome, PlanRequest, Reply
from contracts.task import GivenAnswer
from contracts.usage import Ceiling, Exceeded, Span
from contracts.verdicts import Allow, Ask, Reason, Verdict
from tests.workflows.saying import says, scripted
from tests.workflows.stage import USER, Script, call, calls, stage
from workflows.task import TaskWorkflow

SOON = timedelta(seconds=1)


def soon() -> datetime:
    return datetime.now(UTC) + SOON


def over(span: Span, most: float, frees_at: datetime | None = None) -> Callable[[PlanRequest], NextStep | PlanOutcome]:
    """A planner that has no money for its first step."""
    exceeded = Exceeded(ceiling=Ceiling(kind="money", span=span, most=most), used=most, wanted=0.1, frees_at=frees_at)

    def think(request: PlanRequest) -> NextStep | PlanOutcome:
        if request.step > 1:
            return Reply(text="done")
        return PlanOutcome(
            next_step=AskUser(question="More?"),
            transcript_ref=BlobRef(sha256="0" * 64, size=1),
            over_budget=True,
            exceeded=(exceeded,),
        )

    return think


@pytest.mark.replayed
@pytest.mark.parametrize(("span", "most", "budget", "beyond"), [("task", 1.0, 2.0, False), ("day", 5.0, 1.0, True)])
async def test_a_yes_raises_the_tasks_own_budget_or_lets_this_task_go_beyond_that_of_all(
    span: Span, most: float, budget: float, beyond: bool
) -> None:
    script = Script(plan_step=over(span, most))
    async with stage(script) as on:
        handle = await on.start()
        asked = (await on.until(handle, lambda seen: seen.asked is not None)).asked
        assert asked is not None
        given = GivenAnswer(question_id=asked.question_id, turn=says("go on"), by=USER)
        await handle.execute_update(TaskWorkflow.answer, given)
        await handle.result()

    assert [(plan.budget_usd, plan.beyond) for plan in script.plans] == [(1.0, False), (budget, beyond)]
    assert script.plans[0].actor is not None
    assert script.plans[0].actor.user_id == USER


async def test_a_budget_that_time_frees_lets_the_task_go_on_by_itself() -> None:
    script = Script(plan_step=over("day", 5.0, soon()))
    async with stage(script) as on:
        handle = await on.start()

        assert (await handle.result()).answer == "done"
        assert (await handle.query(TaskWorkflow.status)).asked is None

    assert [(plan.budget_usd, plan.beyond) for plan in script.plans] == [(1.0, False), (1.0, False)]


@pytest.mark.replayed
async def test_a_call_that_only_a_rate_holds_back_is_judged_again_once_it_is_free() -> None:
    judged: list[JudgeRequest] = []

    def verdict(request: JudgeRequest) -> Verdict:
        judged.append(request)
        reasons = (Reason(rule="limit.requests.minute", detail="60 + 1 / 60"),)
        return Ask(reasons=reasons, risk=20, free_at=soon()) if len(judged) == 1 else Allow()

    script = scripted(calls(call(script="curl")), Reply(text="done"))
    script.verdict = verdict
    async with stage(script) as on:
        assert (await (await on.start()).result()).answer == "done"

    assert len(judged) == 2
    assert [run.approval for run in script.runs] == [None]


async def test_the_risk_of_a_task_is_that_of_its_riskiest_step_and_goes_back_into_the_next_question() -> None:
    risks = {"a": 40, "b": 15, "c": 20}
    judged: list[JudgeRequest] = []

    def verdict(request: JudgeRequest) -> Verdict:
        judged.append(request)
        return Allow(risk=risks[str((request.call.args or {})["script"])])

    script = scripted(*(calls(call(script=name)) for name in risks), Reply(text="done"))
    script.verdict = verdict
    async with stage(script) as on:
        handle = await on.start()
        await handle.result()
        attributes = (await handle.describe()).typed_search_attributes

    assert [(request.task_risk, request.budget_usd) for request in judged] == [(0, 1.0), (40, 1.0), (40, 1.0)]
    assert attributes[search.RISK_SCORE] == 40
