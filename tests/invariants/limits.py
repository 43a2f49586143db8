"""Promises about risk and budgets, and how each is broken."""

import sqlite3
import uuid
from datetime import datetime

from activities import examining
from activities.metering import Meters
from activities.step_budget import StepBudget
from audit import usage
from audit.usage import Meter
from contracts.usage import Ceiling, Exceeded, Use
from contracts.verdicts import Question
from policy import concluding, judge, risk
from policy.findings import Findings
from policy.risk import Risk, judge_risk
from policy.roles import Role
from policy.rules import Rule
from tests.invariants.switch import Switch, all_of, always, always_soon, in_vain, replaced

_insert = usage._insert


def _under_another_key(connection: sqlite3.Connection, use: Use, now: datetime) -> None:
    _insert(connection, use.model_copy(update={"key": uuid.uuid4().hex}), now)


async def _looks_and_then_takes(
    meter: Meter, use: Use, ceilings: tuple[Ceiling, ...], *, force: bool = False
) -> tuple[Exceeded, ...]:
    """In two steps, with room for others in between."""
    now = meter._now()
    exceeded = await meter._database.read(lambda connection: tuple(usage._exceeded(connection, use, ceilings, now)))
    if exceeded and not force:
        return exceeded
    await meter._database.write(lambda connection: _insert(connection, use, now))
    return ()


def _suspicion_decides(question: Question, role: Role, findings: Findings) -> Risk:
    if question.suspicion:
        findings.ask(Rule.RISK_HIGH, "it reads like an order")
    return judge_risk(question, role, findings)


USAGE = "tests/audit/test_usage.py"
METERING = "tests/tools/test_metering.py"
RISK = "tests/policy/test_risk.py"

LIMITS = (
    Switch(
        "nothing is used beyond its ceiling",
        f"{USAGE}::test_uses_are_taken_up_to_the_ceiling_and_not_beyond_it",
        replaced(usage, "_exceeded", always(())),
    ),
    Switch(
        "the same use is counted once",
        f"{USAGE}::test_the_same_key_again_takes_nothing_more",
        all_of(
            replaced(usage, "_is_reserved", always(False)),
            replaced(usage, "_insert", _under_another_key),
        ),
    ),
    Switch(
        "many at once never go over a ceiling together",
        f"{USAGE}::test_two_hundred_at_once_take_what_there_is_and_no_more",
        replaced(Meter, "reserve", _looks_and_then_takes),
    ),
    Switch(
        "what a thought may cost is reserved before the model is asked",
        "tests/planner/test_step_budget.py::test_a_budget_that_does_not_bear_a_thought_is_named_with_what_a_yes_does",
        replaced(StepBudget, "reserve", always_soon(None)),
    ),
    Switch(
        "a call beyond a ceiling is asked",
        f"{RISK}::test_a_ceiling_that_would_be_gone_over_is_asked_with_its_numbers_and_its_end",
        replaced(judge, "judge_ceilings", always(None)),
    ),
    Switch(
        "a call that does not run uses nothing",
        f"{METERING}::test_what_is_denied_or_refused_uses_nothing",
        replaced(Meters, "give_back", in_vain),
    ),
    Switch(
        "what nobody says yes to uses nothing",
        f"{METERING}::test_what_nobody_says_yes_to_is_given_back",
        replaced(Meters, "note", in_vain),
    ),
    Switch(
        "what runs beyond a ceiling because of a yes is counted",
        f"{METERING}::test_what_the_person_says_yes_to_runs_beyond_the_rate_and_is_counted",
        replaced(Meters, "insist", in_vain),
    ),
    Switch(
        "the money of calls comes out of the task's own budget",
        f"{METERING}::test_the_money_of_calls_comes_out_of_the_tasks_own_budget_too",
        replaced(examining, "within_budget", lambda _, ceilings: ceilings),
    ),
    Switch(
        "a call of too much risk is asked or denied, whatever permits it",
        f"{RISK}::test_from_the_thresholds_on_a_call_is_asked_and_denied_whatever_permits_it",
        replaced(concluding, "judge_risk", always((0, ()))),
    ),
    Switch(
        "of three dangerous properties a task has two",
        f"{RISK}::test_of_three_properties_a_task_may_have_two_unless_the_person_named_the_third",
        replaced(risk, "holds_all_three", always(False)),
    ),
    Switch(
        "what a text looks like adds to the risk and decides nothing",
        "tests/policy/test_detector.py::test_suspicion_alone_changes_no_verdict",
        replaced(concluding, "judge_risk", _suspicion_decides),
    ),
)
