"""A risk is the sum of its parts, and each part has its reason."""

import pytest

from contracts.messages import HostGrant
from contracts.provenance import Effect, ToolLabels
from contracts.usage import Ceiling, Exceeded, Habits, mark_of
from contracts.verdicts import (
    Action,
    CommandAction,
    EffectAction,
    FileAction,
    SendAction,
    TalkAction,
    VisitAction,
)
from policy.risk_parts import NAMES, PARTS
from policy.roles import RiskRules
from tests.policy.risk_questions import (
    MAIL,
    NOON,
    SETTLED,
    WEB,
    asking,
    parts_of,
    paying,
    policy_of,
    rules_of,
    traced,
    under,
)


@pytest.mark.parametrize(
    ("action", "more", "part"),
    [
        (FileAction(operation="read", path="a"), {}, "effect"),
        (CommandAction(script="frobnicate"), {}, "effect"),
        (paying(50), {}, "amount"),
        (paying(50), {}, "reversibility"),
        (paying(50), {}, "destination"),
        (EffectAction(effects=("credential",)), {}, "credential"),
        (TalkAction(), {"tainted": True}, "taint"),
        (TalkAction(), {"provenance": WEB}, "taint"),
        (TalkAction(), {"at": NOON.replace(hour=3), "habits": SETTLED}, "hour"),
        (TalkAction(), {"habits": SETTLED.model_copy(update={"last_minute": 21})}, "rate"),
        (MAIL, {"tainted": True, "private": True}, "rule_of_two"),
        (TalkAction(), {"suspicion": 0.9}, "suspicion"),
    ],
)
def test_each_part_has_its_cause(action: Action, more: dict[str, object], part: str) -> None:
    assert parts_of(asking(action, **more)).get(part, 0) > 0
    assert parts_of(asking(TalkAction())) == {}


def test_every_part_is_named_once() -> None:
    assert len(set(NAMES)) == len(PARTS) == 10


@pytest.mark.parametrize(
    ("more", "unusual"),
    [
        ({"at": NOON.replace(hour=3), "habits": Habits()}, ()),
        ({"at": NOON.replace(hour=3), "habits": SETTLED.model_copy(update={"last_hour": 490})}, ()),
        ({"at": NOON, "habits": SETTLED}, ()),
        ({"at": NOON.replace(hour=3), "habits": SETTLED}, ("hour",)),
        ({"at": NOON.replace(hour=8), "habits": SETTLED}, ()),
        ({"at": None, "habits": SETTLED}, ()),
        ({"at": NOON, "habits": Habits(calls=19, last_minute=19, last_hour=19)}, ()),
        ({"at": NOON, "habits": SETTLED.model_copy(update={"last_minute": 20})}, ()),
        ({"at": NOON, "habits": SETTLED.model_copy(update={"last_minute": 21})}, ("rate",)),
    ],
)
def test_an_hour_or_a_burst_is_unusual_only_for_somebody_with_a_history(
    more: dict[str, object], unusual: tuple[str, ...]
) -> None:
    assert tuple(parts_of(asking(TalkAction(), **more))) == unusual


@pytest.mark.parametrize(
    ("hours", "at", "unusual"),
    [((6, 22), 5, True), ((6, 22), 6, False), ((22, 6), 23, False), ((22, 6), 7, True)],
)
def test_the_policy_may_say_which_hours_are_usual(hours: tuple[int, int], at: int, unusual: bool) -> None:
    verdict = under(policy_of(RiskRules(usual_hours=hours)), TalkAction(), at=NOON.replace(hour=at))

    assert ("hour" in parts_of(verdict)) == unusual


@pytest.mark.parametrize(
    ("url", "more", "points"),
    [
        ("https://docs.example/", {}, 6),
        ("https://docs.example/", {"habits": SETTLED}, 6),
        ("https://other.example/", {"habits": SETTLED}, 12),
        ("https://other.example/", {"habits": SETTLED, "spoken_hosts": ("other.example",)}, 6),
        ("https://other.example/", {"spoken_hosts": ("other.example",)}, 0),
        ("https://docs.example/", {"habits": SETTLED, "approved_hosts": (HostGrant(host="docs.example"),)}, 0),
        ("https://listed.example/", {}, 0),
    ],
)
def test_a_destination_counts_for_being_nobodys_and_for_being_new(
    url: str, more: dict[str, object], points: int
) -> None:
    assert parts_of(asking(VisitAction(url=url), **more)).get("destination", 0) == points


def test_habits_know_a_destination_by_its_mark_alone() -> None:
    marked = Habits(calls=500, destinations=(mark_of("Docs.Example", "key"),), key="key")

    assert "docs" not in str(marked.destinations)
    assert marked.knows("docs.example")
    assert not marked.knows("other.example")
    assert parts_of(asking(VisitAction(url="https://docs.example/"), habits=marked))["destination"] == 6


def test_money_of_an_unknown_amount_counts_as_much_as_any() -> None:
    unknown = parts_of(asking(paying(None)))["amount"]

    assert parts_of(asking(paying(5)))["amount"] < parts_of(asking(paying(500)))["amount"] < unknown
    assert parts_of(asking(paying(float("nan"))))["amount"] == unknown
    assert parts_of(asking(paying(float("inf"))))["amount"] == unknown


def test_what_can_be_taken_back_counts_less_but_money_is_gone() -> None:
    undoable = ToolLabels(reversible=True, space="own")
    writing = EffectAction(effects=("write", "delete"))

    assert "reversibility" in parts_of(asking(writing))
    assert "reversibility" not in parts_of(asking(writing, labels=undoable))
    assert "reversibility" in parts_of(asking(paying(5), labels=undoable))


def test_points_are_adjusted_by_the_policy() -> None:
    loud, silent = policy_of(RiskRules(points=(("taint", 60),))), policy_of(RiskRules(points=(("taint", 0),)))

    assert parts_of(under(loud, TalkAction(), tainted=True)) == {"taint": 30}
    assert parts_of(under(silent, TalkAction(), tainted=True)) == {}


def test_from_the_thresholds_on_a_call_is_asked_and_denied_whatever_permits_it() -> None:
    policy = policy_of(RiskRules(ask_at=40, deny_at=70))
    spoken: tuple[Effect, ...] = ("money",)

    low = under(policy, FileAction(operation="write", path="a"))
    high = under(policy, paying(5), spoken_effects=spoken)
    extreme = under(policy, paying(5_000), tainted=True, private=True, spoken_effects=spoken)

    assert low.kind == "allow"
    assert (high.kind, rules_of(high)) == ("ask", {"risk.high"})
    assert 40 <= high.risk < 70
    assert (extreme.kind, rules_of(extreme), extreme.risk) == ("deny", {"risk.extreme"}, 100)
    assert "effect" in extreme.reasons[0].detail


@pytest.mark.parametrize(
    ("action", "more", "asked"),
    [
        (MAIL, {"tainted": True, "private": True}, True),
        (MAIL, {"tainted": True}, False),
        (MAIL, {"private": True}, False),
        (FileAction(operation="read", path="a"), {"tainted": True, "private": True}, False),
        (FileAction(operation="write", path="a"), {"tainted": True, "private": True}, False),
        (SendAction(recipient="self", what="a"), {"tainted": True, "private": True}, False),
        (SendAction(recipient="bob", what="a"), {"tainted": True, "private": True}, True),
        (MAIL, {"provenance": WEB, "private": True}, True),
        (EffectAction(effects=("credential", "egress")), {"tainted": True}, True),
        (MAIL, {"tainted": True, "private": True, "spoken_effects": ("send",)}, False),
        (MAIL, {"tainted": True, "private": True, "spoken_effects": ("money",)}, True),
        (MAIL, {"tainted": True, "private": True, "arguments": (traced("anna@example.com", "contact"),)}, False),
        (
            MAIL,
            {
                "tainted": True,
                "private": True,
                "spoken_effects": ("send",),
                "arguments": (traced("anna@example.com", "foreign"),),
            },
            True,
        ),
        (VisitAction(url="https://listed.example/"), {"tainted": True, "private": True}, False),
        (EffectAction(effects=("write",)), {"tainted": True, "private": True}, True),
        (
            EffectAction(effects=("write",)),
            {"tainted": True, "private": True, "labels": ToolLabels(space="own", reversible=True)},
            False,
        ),
    ],
)
def test_of_three_properties_a_task_may_have_two_unless_the_person_named_the_third(
    action: Action, more: dict[str, object], asked: bool
) -> None:
    assert ("risk.rule_of_two" in rules_of(asking(action, **more))) == asked


def test_a_ceiling_that_would_be_gone_over_is_asked_with_its_numbers_and_its_end() -> None:
    ceiling = Ceiling(kind="requests", span="minute", most=60)
    exceeded = Exceeded(ceiling=ceiling, used=60, wanted=1, frees_at=NOON)

    verdict = asking(TalkAction(), exceeded=(exceeded,))

    assert (verdict.kind, rules_of(verdict)) == ("ask", {"limit.requests.minute"})
    assert verdict.reasons[0].detail == "60 + 1 / 60, 2026-05-01 12:00:00 UTC"


def test_the_same_question_has_the_same_risk_at_any_time() -> None:
    question: dict[str, object] = {"at": NOON.replace(hour=3), "habits": SETTLED, "tainted": True}

    assert asking(paying(5), **question) == asking(paying(5), **question)
