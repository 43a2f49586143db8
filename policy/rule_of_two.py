"""The Rule of Two: a task that has read what strangers wrote and what is private does not act on the world outside by
itself, unless the person asked for just that.

After "Agents Rule of Two" (Meta, 2025): of the three properties a task may have two; with all three a person looks.
"""

from contracts.provenance import Effect
from contracts.verdicts import EffectAction, Question, SendAction
from policy.destinations import destinations_of, foreign
from policy.findings import Findings

STEERING = frozenset({"destination", "recipient", "amount", "command", "identifier", "secret"})
"""Kinds of arguments that decide what a call does and to whom."""

_OUTSIDE: frozenset[Effect] = frozenset({"share", "money", "account", "egress"})
_CHANGES: frozenset[Effect] = frozenset({"write", "delete", "execute", "send"})
_TALK: frozenset[Effect] = frozenset({"send", "share"})


def holds_all_three(question: Question, findings: Findings) -> bool:
    """Whether it has read untrusted content, has had private data, and would now act outside."""
    return has_read_untrusted(question) and has_private(question, findings) and bool(acts_outside(question, findings))


def has_read_untrusted(question: Question) -> bool:
    return question.tainted or not question.provenance.trusted


def has_private(question: Question, findings: Findings) -> bool:
    return question.private or "credential" in findings.effects


def acts_outside(question: Question, findings: Findings) -> tuple[Effect, ...]:
    """The effects beyond what is the person's own and can be taken back. A sandbox's files count as such."""
    found = {one for one in findings.effects if one in _OUTSIDE}
    if sends_out(question):
        found.add("send")
    own = question.labels.space == "own" and question.labels.reversible
    for action in question.actions:
        if isinstance(action, EffectAction) and not own:
            found |= _CHANGES & set(action.effects)
    return tuple(sorted(found))


def sends_out(question: Question) -> bool:
    """Whether it gives something to somebody other than the person."""
    for action in question.actions:
        if isinstance(action, SendAction) and action.recipient != "self":
            return True
        if isinstance(action, EffectAction) and "send" in action.effects:
            return True
    return False


def is_named(question: Question, findings: Findings) -> bool:
    """Whether the person asked for this: its effects, or every place it goes to; and nobody else chose what matters."""
    if is_steered(question):
        return False
    spoken = set(question.spoken_effects)
    spoken |= _TALK if spoken & _TALK else set()
    if set(acts_outside(question, findings)) <= spoken:
        return True
    destinations = destinations_of(question.actions, findings.egress)
    return bool(destinations) and not foreign(destinations, question, findings)


def is_steered(question: Question) -> bool:
    """Whether somebody else may have chosen what it does or to whom."""
    return any(traced.steered and traced.kind in STEERING for traced in question.arguments)
