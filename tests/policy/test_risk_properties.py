"""What holds for the risk of any call: its parts sum to it, and nothing that makes a call worse lowers it."""

from hypothesis import given
from hypothesis import strategies as st

from contracts.provenance import Effect, Provenance, ToolLabels
from contracts.usage import Habits
from contracts.verdicts import (
    EffectAction,
)
from policy.roles import RiskRules
from tests.policy.risk_questions import EFFECTS, NOON, SETTLED, WEB, asking, policy_of, traced, under


@st.composite
def calls(draw: st.DrawFn) -> dict[str, object]:
    """Any call of a foreign service, and any state of the task and the person."""
    action = EffectAction(
        effects=tuple(draw(st.sets(st.sampled_from(EFFECTS), min_size=1))),
        destinations=tuple(
            draw(st.sets(st.sampled_from(("anna@example.com", "docs.example", "evil.test")), max_size=2))
        ),
        amount=draw(st.floats(min_value=0, max_value=1e6)),
    )
    return {
        "actions": (action,),
        "tainted": draw(st.booleans()),
        "private": draw(st.booleans()),
        "at": NOON.replace(hour=draw(st.integers(0, 23))),
        "habits": draw(st.sampled_from((Habits(), SETTLED, SETTLED.model_copy(update={"last_minute": 99})))),
        "suspicion": draw(st.floats(min_value=0, max_value=1)),
        "labels": draw(st.sampled_from((ToolLabels(), ToolLabels(space="own", reversible=True)))),
        "provenance": draw(st.sampled_from((WEB, Provenance(trusted=True)))),
    }


def risk_of(call: dict[str, object], **changes: object) -> int:
    return asking(**{**call, **changes}).risk


def first(call: dict[str, object]) -> EffectAction:
    actions = call["actions"]
    assert isinstance(actions, tuple)
    assert isinstance(actions[0], EffectAction)
    return actions[0]


@given(calls(), st.booleans())
def test_the_parts_sum_to_the_risk_and_only_what_is_denied_is_a_hundred(call: dict[str, object], denied: bool) -> None:
    verdict = under(policy_of(RiskRules(deny_at=0 if denied else None)), **call)

    assert sum(part.points for part in verdict.risk_parts) == verdict.risk
    assert (verdict.risk == 100) == (verdict.kind == "deny") == denied


@given(calls(), st.floats(min_value=0, max_value=1e7), st.sampled_from(EFFECTS), st.floats(min_value=0, max_value=1))
def test_nothing_that_makes_a_call_worse_lowers_its_risk(
    call: dict[str, object], more: float, effect: Effect, suspicion: float
) -> None:
    action, risk = first(call), risk_of(call)
    worse: tuple[dict[str, object], ...] = (
        {"tainted": True},
        {"private": True},
        {"provenance": WEB},
        {"suspicion": max(suspicion, float(str(call["suspicion"])))},
        {"labels": ToolLabels()},
        {"actions": (action.model_copy(update={"destinations": (*action.destinations, "stranger.test")}),)},
        {"actions": (action.model_copy(update={"amount": (action.amount or 0) + more}),)},
        {"actions": (action.model_copy(update={"amount": None}),)},
        {"actions": (action.model_copy(update={"effects": (*action.effects, effect)}),)},
        {"arguments": (traced("x", "foreign"),)},
    )

    for change in worse:
        assert risk_of(call, **change) >= risk, change


@given(calls(), st.sets(st.sampled_from(("anna@example.com", "docs.example", "evil.test"))))
def test_a_place_that_becomes_known_is_never_riskier(call: dict[str, object], known: set[str]) -> None:
    fewer = SETTLED.model_copy(update={"destinations": ()})

    assert risk_of(call, habits=SETTLED.model_copy(update={"destinations": tuple(known)})) <= risk_of(
        call, habits=fewer
    )
