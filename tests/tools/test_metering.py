"""What a call uses up is taken before it runs, counted once, and given back if it does not run."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from temporalio.testing import ActivityEnvironment

from activities.acting import Acting, ActingParts
from activities.catalogue import Catalogue
from activities.examining import Examiner
from activities.metering import Meters, use_of
from audit.ledger import Ledger
from audit.storage import StorageUnusable
from audit.usage import Meter
from contracts.activities import ApprovalNote, Demands, JudgeRequest, RunOutcome
from contracts.provenance import Effect
from contracts.task import Approval, Decision
from contracts.tools import ToolCall
from contracts.usage import Ceiling, Use
from contracts.values import JsonObject
from contracts.verdicts import (
    Action,
    Actor,
    Allow,
    CommandAction,
    EffectAction,
    Question,
    SendAction,
    TalkAction,
    Verdict,
    VisitAction,
)
from policy.ceilings import ceilings_of
from policy.file import parse
from policy.judge import judge
from policy.roles import BrowserRules, Policy
from tests.tools.acting_parts import NOW, OneHost, Scripted, approval, call, judged, request, result
from tests.tools.conftest import MemoryBlobs

SHOPPING = """
role: owner
permissions:
  api: {scopes: ["*"]}
approval_rules:
  spending_over: 1000
  external_communication: allow
"""
BASE = replace(parse(SHOPPING, "test.yaml"), version="")


@dataclass
class InForce:
    """The real policy, with these ceilings."""

    policy: Policy

    @classmethod
    def limited(cls, *ceilings: Ceiling) -> "InForce":
        return cls(replace(BASE, roles={"owner": replace(BASE.roles["owner"], ceilings=ceilings)}))

    def judge(self, question: Question) -> Verdict:
        return judge(question, self.policy)

    def demands(self, question: Question, verdict: Verdict) -> Demands:
        return Demands()

    def ceilings(self, actor: Actor) -> tuple[Ceiling, ...]:
        return ceilings_of(actor, self.policy)

    def browsing(self, role: str) -> BrowserRules:
        return BrowserRules()


class Shop(Scripted):
    """Reaches a service, and pays one euro with each call."""

    def actions(self, args: JsonObject) -> tuple[Action, ...]:
        return (EffectAction(effects=("money",), destinations=("shop.example",), amount=1.0, currency="EUR"),)


@dataclass
class Counter:
    """A worker with real storage, whose tool pays."""

    policy: InForce
    meter: Meter
    ledger: Ledger
    shop: Shop
    blobs: MemoryBlobs

    @property
    def examiner(self) -> Examiner:
        return Examiner(
            Catalogue((self.shop,)), self.policy, self.blobs, now=self.now, meters=Meters(self.meter, self.now)
        )

    def now(self) -> datetime:
        return NOW

    async def judge(self, call_id: str, task_id: str = "task1") -> Verdict:
        asked = judged(payment(call_id)).model_copy(update={"task_id": task_id})
        return (await self.examiner.examine(asked)).outcome.verdict

    async def run(self, call_id: str, given: Approval | None = None) -> RunOutcome:
        parts = ActingParts(
            examiner=self.examiner,
            blobs=self.blobs,
            ledger=self.ledger,
            host=OneHost(None),
            host_id="local",
            redact=lambda text: text,
            now=self.now,
            confirmed=lambda _step_up, _purpose, _now: True,
            meters=Meters(self.meter, self.now),
        )
        asked = request(payment(call_id), approval=given, lease=None)
        outcome: RunOutcome = await ActivityEnvironment().run(Acting(parts).run_tool, asked)
        return outcome

    async def used(self) -> float:
        """What counts against a ceiling of nothing."""
        refused = await self.meter.reserve(use_of_payment("probe"), (Ceiling(kind="requests", span="day", most=0),))
        return refused[0].used


def payment(call_id: str) -> ToolCall:
    return call("scripted", {"n": 1}, call_id)


def use_of_payment(call_id: str, *actions: Action) -> Use:
    asked = judged(payment(call_id))
    given = actions or Shop(result).actions({})
    found = use_of(asked, Question(actor=asked.actor, tool="t", args={}, actions=given), Allow())
    assert found is not None
    return found


def at_most(amount: float, kind: str = "requests", span: str = "minute") -> Ceiling:
    return Ceiling.model_validate({"kind": kind, "span": span, "most": amount})


@pytest.fixture
async def counter(tmp_path: Path, blobs: MemoryBlobs) -> AsyncIterator[Counter]:
    meter = await Meter.open(tmp_path / "usage.db", b"k" * 32, lambda: NOW)
    ledger = await Ledger.open(tmp_path / "ledger.db")
    yield Counter(InForce.limited(at_most(2)), meter, ledger, Shop(result), blobs)
    await meter.close()
    await ledger.close()


async def test_a_call_beyond_a_rate_is_asked_and_says_when_it_is_free_again(counter: Counter) -> None:
    verdicts = [await counter.judge(f"c{number}") for number in range(3)]

    assert [verdict.kind for verdict in verdicts] == ["allow", "allow", "ask"]
    assert verdicts[2].kind == "ask"
    assert [reason.rule for reason in verdicts[2].reasons] == ["limit.requests.minute"]
    assert verdicts[2].free_at == NOW + timedelta(minutes=1)


async def test_a_call_that_is_judged_twice_and_run_is_counted_once(counter: Counter) -> None:
    await counter.judge("c1")
    await counter.judge("c1")
    await counter.run("c1")

    assert (await counter.used(), counter.shop.runs) == (1, 1)


async def test_a_call_that_was_never_judged_here_reserves_before_it_runs(counter: Counter) -> None:
    outcomes = [await counter.run(f"c{number}") for number in range(3)]

    assert [outcome.turn.ok for outcome in outcomes] == [True, True, False]
    assert (await counter.used(), counter.shop.runs) == (2, 2)


async def test_what_the_person_says_yes_to_runs_beyond_the_rate_and_is_counted(counter: Counter) -> None:
    await counter.judge("c1")
    await counter.judge("c2")

    outcome = await counter.run("c3", approval(payment("c3")))

    assert outcome.turn.ok
    assert await counter.used() == 3


async def test_what_is_denied_or_refused_uses_nothing(counter: Counter) -> None:
    counter.policy = InForce.limited(at_most(2))
    await counter.judge("c1")
    counter.policy = InForce(replace(BASE, roles={}))

    assert (await counter.judge("c2")).kind == "deny"
    assert not (await counter.run("c1")).turn.ok
    assert await counter.used() == 0


@pytest.mark.parametrize(
    ("event", "approve", "left"),
    [("asked", None, 1), ("decided", True, 1), ("decided", False, 0), ("expired", None, 0), ("given_up", None, 0)],
)
async def test_what_nobody_says_yes_to_is_given_back(
    counter: Counter, event: str, approve: bool | None, left: int
) -> None:
    asked = approval(payment("c1"))
    await counter.meter.reserve(use_of_payment("c1"), ())
    decision = None
    if approve is not None:
        decision = Decision(approval_id="a1", call_id="c1", args_sha256="0" * 64, approve=approve, by="telegram:7")
    note = ApprovalNote.model_validate(
        {"task_id": "task1", "user_id": "telegram:7", "approval": asked, "event": event, "decision": decision}
    )

    await Meters(counter.meter, counter.now).note(note)

    assert await counter.used() == left


async def test_twenty_calls_of_as_many_tasks_never_spend_more_than_the_day_has(counter: Counter) -> None:
    counter.policy = InForce.limited(at_most(5, "money", "day"))

    verdicts = await asyncio.gather(*(counter.judge("c", f"task{number}") for number in range(20)))

    assert sorted(verdict.kind for verdict in verdicts) == ["allow"] * 5 + ["ask"] * 15


async def test_the_money_of_calls_comes_out_of_the_tasks_own_budget_too(counter: Counter) -> None:
    counter.policy = InForce.limited()
    asked = [judged(payment(name)).model_copy(update={"budget_usd": 1.5}) for name in ("a", "b")]

    verdicts = [(await counter.examiner.examine(one)).outcome.verdict for one in asked]

    assert [verdict.kind for verdict in verdicts] == ["allow", "ask"]
    assert verdicts[1].reasons[0].rule == "limit.money.task"


async def test_habits_are_learned_from_what_needs_no_question_and_from_what_was_said_yes_to(counter: Counter) -> None:
    counter.policy = InForce.limited(at_most(1))
    await counter.judge("c1")
    await counter.judge("c2")
    await counter.run("c1")
    unasked = await counter.meter.habits("telegram:7", NOW)
    yes = Decision(approval_id="a1", call_id="c2", args_sha256="0" * 64, approve=True, by="telegram:7")
    asked = approval(payment("c2"), destinations=("bank.example",))
    note = ApprovalNote(task_id="task1", user_id="telegram:7", approval=asked, event="decided", decision=yes)
    await Meters(counter.meter, counter.now).note(note)
    approved = await counter.meter.habits("telegram:7", NOW)

    assert (unasked.calls, approved.calls) == (1, 2)
    assert unasked.knows("shop.example")
    assert (unasked.knows("bank.example"), approved.knows("bank.example")) == (False, True)


async def test_without_the_meter_nothing_is_judged_and_nothing_runs(counter: Counter) -> None:
    await counter.meter._database.write(lambda connection: connection.execute("DROP TABLE uses"))

    with pytest.raises(StorageUnusable):
        await counter.judge("c1")
    with pytest.raises(StorageUnusable):
        await counter.run("c1")
    assert counter.shop.runs == 0


MAIL = ("anna@example.com", "bob@example.com")


def effects(*these: Effect, amount: float | None = None) -> EffectAction:
    return EffectAction(effects=these, destinations=MAIL, amount=amount)


@pytest.mark.parametrize(
    ("actions", "amounts"),
    [
        ((TalkAction(),), None),
        ((CommandAction(script="ls"),), None),
        ((SendAction(recipient="self", what="x"),), None),
        ((VisitAction(url="https://a.example/"),), {"requests": 1}),
        ((SendAction(recipient="bob", what="x"),), {"requests": 1, "messages": 1}),
        ((effects("send"),), {"requests": 1, "messages": 2}),
        ((effects("read"), effects("read")), {"requests": 1}),
        ((effects("money", amount=-3.5), effects("money", amount=1)), {"requests": 1, "money": 4.5}),
        ((effects("money", amount=float("nan")),), {"requests": 1, "money": 1e12}),
        ((effects("read", amount=9),), {"requests": 1}),
    ],
)
def test_what_a_call_uses_up(actions: tuple[Action, ...], amounts: dict[str, float] | None) -> None:
    asked: JudgeRequest = judged(payment("c"))
    found = use_of(asked, Question(actor=asked.actor, tool="t", args={}, actions=actions), Allow())

    assert (found.amounts if found else None) == amounts
    assert found is None or found.key == "task1/c"
