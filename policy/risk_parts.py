"""The parts that a risk is the sum of: each looks at one thing, and says how much of it there is, and what.

None of them ever takes away from the risk, and none looks at a clock.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

from contracts.provenance import Effect
from contracts.verdicts import EffectAction, Question
from policy.destinations import destinations_of, foreign
from policy.findings import Findings
from policy.habits import is_burst, is_settled, is_unusual_hour
from policy.roles import Role
from policy.rule_of_two import acts_outside, holds_all_three, is_steered, sends_out
from policy.rules import Rule

Share = tuple[float, str]
"""How much of a part there is, from 0 to 1, and the one thing a person needs to see of it."""

_NOTHING: Share = (0.0, "")

_EFFECTS: dict[Effect, int] = {
    "read": 1,
    "write": 5,
    "execute": 5,
    "egress": 8,
    "send": 15,
    "share": 15,
    "account": 20,
    "delete": 15,
    "credential": 25,
    "money": 30,
}
_UNKNOWN = 20
"""What a command counts that policy cannot follow."""
_ALL_EFFECTS = 30
"""So much of effects is all of it."""
_UNFOLLOWED = frozenset(
    {
        Rule.COMMAND_COMPLEX,
        Rule.COMMAND_FETCHED,
        Rule.COMMAND_GRAMMAR,
        Rule.COMMAND_INSTALLS,
        Rule.COMMAND_OPAQUE,
        Rule.COMMAND_RUNS_WRITTEN,
        Rule.COMMAND_UNKNOWN,
        Rule.COMMAND_UNRESOLVED,
    }
)
_LASTING: dict[Effect, float] = {
    "share": 1.0,
    "money": 1.0,
    "delete": 1.0,
    "account": 0.7,
    "credential": 0.7,
    "execute": 0.2,
    "write": 0.2,
}
_OUT: frozenset[Effect] = frozenset({"share", "money"})
"""What is out cannot be taken back, whatever a tool says of itself."""
_WHOLE_AMOUNT = 10_000


@dataclass(frozen=True)
class Part:
    """One part of a risk: its name, the most points it gives, and how it is measured."""

    name: str
    most: int
    measure: Callable[[Question, Role, Findings], Share]


def effect(question: Question, role: Role, findings: Findings) -> Share:
    """What it does, and whether policy can say so at all."""
    found = sorted(findings.effects, key=lambda one: -_EFFECTS[one])
    points = sum(_EFFECTS[one] for one in found)
    unknown = any(finding.rule in _UNFOLLOWED for finding in findings.found)
    return min(1.0, (points + _UNKNOWN * unknown) / _ALL_EFFECTS), ", ".join((*found, *(["?"] if unknown else [])))


def reversibility(question: Question, role: Role, findings: Findings) -> Share:
    """What cannot be taken back."""
    lasting = {one: _LASTING[one] for one in findings.effects if one in _LASTING}
    if question.labels.reversible:
        lasting = {one: share for one, share in lasting.items() if one in _OUT}
    if sends_out(question):
        lasting["send"] = 1.0
    worst = max(lasting, key=lambda one: lasting[one], default=None)
    return (lasting[worst], worst) if worst else _NOTHING


def destination(question: Question, role: Role, findings: Findings) -> Share:
    """Half for a place that the person has no hand in, half for one that they have never been to."""
    places = destinations_of(question.actions, findings.egress)
    strange = foreign(places, question, findings)
    new = [place for place in places if is_settled(question.habits) and not question.habits.knows(place)]
    return 0.5 * bool(strange) + 0.5 * bool(new), ", ".join(dict.fromkeys((*strange, *new)))


def amount(question: Question, role: Role, findings: Findings) -> Share:
    """How much money, by its order of magnitude; money of an unknown amount counts as all of it."""
    if "money" not in findings.effects:
        return _NOTHING
    spent = [action for action in question.actions if isinstance(action, EffectAction) and "money" in action.effects]
    if not spent or any(action.amount is None or math.isnan(action.amount) for action in spent):
        return 1.0, "?"
    total = sum(abs(action.amount or 0.0) for action in spent)
    share = 1.0 if math.isinf(total) else min(1.0, math.log(1 + total) / math.log(1 + _WHOLE_AMOUNT))
    return share, f"{total:.10g} {spent[0].currency}".strip()


def taint(question: Question, role: Role, findings: Findings) -> Share:
    """Half once the task has read what strangers wrote, all if the arguments come from there."""
    if not question.provenance.trusted or is_steered(question):
        return 1.0, ", ".join(question.provenance.origins)
    return (0.5, "") if question.tainted else _NOTHING


def credential(question: Question, role: Role, findings: Findings) -> Share:
    """Keys, passwords and accounts."""
    if "credential" in findings.effects:
        return 1.0, "credential"
    return (0.5, "account") if "account" in findings.effects else _NOTHING


def hour(question: Question, role: Role, findings: Findings) -> Share:
    """A time of day at which the person is usually not there."""
    if question.at is None or not is_unusual_hour(question.at, question.habits, role.risk.usual_hours):
        return _NOTHING
    return 1.0, f"{question.at:%H:%M %Z}"


def rate(question: Question, role: Role, findings: Findings) -> Share:
    """Many more calls at once than this person has ever had."""
    return (1.0, f"{question.habits.last_minute}/min") if is_burst(question.habits) else _NOTHING


def rule_of_two(question: Question, role: Role, findings: Findings) -> Share:
    """Strangers' words, private data, and an act outside, all three."""
    outside = acts_outside(question, findings)
    return (1.0, ", ".join(outside)) if holds_all_three(question, findings) else _NOTHING


def suspicion(question: Question, role: Role, findings: Findings) -> Share:
    """What the detector says of what the task has read; one weak part among others."""
    return question.suspicion, f"{question.suspicion:.2f}"


PARTS = (
    Part("effect", 30, effect),
    Part("reversibility", 10, reversibility),
    Part("destination", 12, destination),
    Part("amount", 12, amount),
    Part("taint", 16, taint),
    Part("credential", 10, credential),
    Part("hour", 4, hour),
    Part("rate", 8, rate),
    Part("rule_of_two", 12, rule_of_two),
    Part("suspicion", 8, suspicion),
)
"""All parts with their usual points."""

NAMES = tuple(part.name for part in PARTS)
"""What a policy file may give other points to."""
