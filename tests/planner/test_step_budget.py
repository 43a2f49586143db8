"""A thought of a model is paid for before it is thought, by the task and by its person, and never twice."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from activities.planners.litellm import LiteLlm
from activities.planning import Thinking
from audit.storage import StorageUnusable
from audit.usage import Meter
from contracts.planning import AskUser, PlanOutcome, PlanRequest, Reply, Usage
from contracts.usage import Ceiling, Use
from contracts.verdicts import Actor
from tests.planner.model_server import Canned, ModelServer, fault, model_server, words
from tests.planner.stores import MemoryBlobs
from tests.planner.world import said

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
ANNA = Actor(user_id="telegram:7", role="owner", channel="telegram")
PRICE = 100 * 2.5e-6 + 10 * 1e-5
"""Of each answer of the stand-in, which says what it has used."""
MOST = 4_096 * 1e-5
"""Of an answer alone, before it is there."""


@pytest.fixture
async def meter(tmp_path: Path) -> AsyncIterator[Meter]:
    meter = await Meter.open(tmp_path / "usage.db", b"k" * 32, lambda: NOW)
    yield meter
    await meter.close()


def day(most: float, kind: str = "money", span: str = "day") -> Ceiling:
    return Ceiling.model_validate({"kind": kind, "span": span, "most": most})


@pytest.fixture(autouse=True)
async def _closed() -> AsyncIterator[None]:
    """All planners of a process share their connections."""
    yield
    await LiteLlm(model="none").close()


async def think(server: ModelServer, meter: Meter, *ceilings: Ceiling, **more: object) -> PlanOutcome:
    """One step of one task."""
    return await think_for(60.0, server, meter, *ceilings, **more)


async def think_for(
    seconds: float, server: ModelServer, meter: Meter, *ceilings: Ceiling, **more: object
) -> PlanOutcome:
    """The same, with a model that is given up after so long."""
    planner = LiteLlm(model="openai/gpt-4o", base_url=server.base_url, api_key="k", timeout_seconds=seconds)
    thinking = Thinking(
        planner=planner, tools={}, blobs=MemoryBlobs(), metering=meter, ceilings=lambda _: tuple(ceilings)
    )
    request = PlanRequest(
        task_id="t", step=1, language="en", transcript_ref=None, additions=(said("Hi"),), actor=ANNA
    ).model_copy(update=more)
    outcome: PlanOutcome = await ActivityEnvironment().run(thinking.plan, request)
    return outcome


async def used(meter: Meter, kind: str = "money") -> float:
    """What all tasks of the person have reserved and spent today."""
    probe = Use.model_validate({"key": "probe", "task_id": "probe", "user_id": ANNA.user_id, "amounts": {kind: 1e9}})
    return (await meter.reserve(probe, (day(0, kind),)))[0].used


async def test_what_a_thought_did_cost_takes_the_place_of_what_it_might(meter: Meter) -> None:
    async with model_server(words("Hello.")) as server:
        outcome = await think(server, meter, day(1))

    assert isinstance(outcome.next_step, Reply)
    assert await used(meter) == pytest.approx(PRICE)
    assert await used(meter, "tokens") == 110


async def test_twenty_tasks_of_one_person_at_once_never_spend_more_than_their_day_has(meter: Meter) -> None:
    budget = 5.5 * MOST
    async with model_server(Canned(hang=True)) as server:
        thoughts = [asyncio.create_task(think(server, meter, day(budget), task_id=f"t{n}")) for n in range(20)]
        asked: set[asyncio.Task[PlanOutcome]] = set()
        thinking = set(thoughts)
        while len(asked) < 15:
            await asyncio.wait(thinking, timeout=0.1, return_when=asyncio.FIRST_COMPLETED)
            asked = {thought for thought in thoughts if thought.done()}
            thinking = set(thoughts) - asked
        spent = await used(meter)
        for thought in thinking:
            thought.cancel()
        await asyncio.gather(*thinking, return_exceptions=True)

    assert len(thinking) == 5
    assert len(server.requests) <= 5
    assert all(thought.result().over_budget for thought in asked)
    assert spent <= budget


@pytest.mark.parametrize(
    ("ceilings", "more", "words_of_it"),
    [
        ((), {"budget_usd": 0.01}, ("0.0100", "this task may use", "larger budget")),
        ((), {"budget_usd": 0.05, "usage": Usage(cost_usd=0.03)}, ("0.0500", "0.0300", "this task may use")),
        ((day(0.02),), {}, ("0.0200", "in one day", "beyond", "policy file")),
        ((day(2_000, "tokens", "hour"),), {}, ("2,000 tokens", "in one hour")),
        ((day(0.02, span="task"),), {"budget_usd": 9.0}, ("0.0200", "this task may use", "beyond")),
    ],
)
async def test_a_budget_that_does_not_bear_a_thought_is_named_with_what_a_yes_does(
    meter: Meter, ceilings: tuple[Ceiling, ...], more: dict[str, object], words_of_it: tuple[str, ...]
) -> None:
    async with model_server(words("Hello.")) as server:
        outcome = await think(server, meter, *ceilings, **more)

    assert outcome.over_budget
    assert len(outcome.exceeded) == 1
    assert isinstance(outcome.next_step, AskUser)
    assert all(each in outcome.next_step.question for each in words_of_it), outcome.next_step.question
    assert server.requests == []
    assert await used(meter) == 0


async def test_a_question_about_the_day_says_when_the_next_one_begins(meter: Meter) -> None:
    async with model_server(words("Hello.")) as server:
        await meter.reserve(Use(key="a", task_id="other", user_id=ANNA.user_id, amounts={"money": 0.5}), ())
        outcome = await think(server, meter, day(0.5))

    assert outcome.exceeded[0].frees_at == NOW.replace(hour=0) + timedelta(days=1)
    assert isinstance(outcome.next_step, AskUser)
    assert "2026-05-02 00:00 UTC" in outcome.next_step.question


async def test_a_task_that_the_person_let_go_beyond_counts_only_against_its_own_budget(meter: Meter) -> None:
    async with model_server(words("Hello.")) as server:
        beyond = await think(server, meter, day(0), beyond=True, budget_usd=1.0)
        poor = await think(server, meter, day(0), beyond=True, budget_usd=0.0, task_id="poor")

    assert (beyond.over_budget, poor.over_budget) == (False, True)
    assert await used(meter) == pytest.approx(PRICE)


@pytest.mark.parametrize(
    ("answer", "is_kept"),
    [
        (fault(429, "slow down"), False),
        (fault(401, "who are you"), False),
        (fault(500, "oops"), False),
        (Canned(hang=True), True),
    ],
)
async def test_what_was_not_answered_is_given_back_unless_it_may_have_been_charged(
    meter: Meter, answer: Canned, is_kept: bool
) -> None:
    async with model_server(answer) as server:
        with pytest.raises(ApplicationError):
            await think_for(0.5, server, meter, day(1))

    assert (await used(meter) > MOST) == is_kept
    assert (await used(meter) == 0) != is_kept


async def test_without_the_meter_no_model_is_asked(meter: Meter) -> None:
    await meter._database.write(lambda connection: connection.execute("DROP TABLE uses"))
    async with model_server(words("Hello.")) as server:
        with pytest.raises(StorageUnusable):
            await think(server, meter, day(1))

    assert server.requests == []
