"""Budgets and rates: a call that would go over one is asked, and the question says when it is free again by itself."""

from datetime import datetime

from contracts.usage import Ceiling, Exceeded, frees_at
from contracts.verdicts import Actor, Question
from policy.findings import Findings, Level
from policy.roles import Policy
from policy.rules import Rule


def judge_ceilings(question: Question, findings: Findings) -> None:
    """Add a question for each ceiling that the call would go over."""
    for exceeded in question.exceeded:
        ceiling = exceeded.ceiling
        findings.ask(Rule(f"limit.{ceiling.kind}.{ceiling.span}"), shown(exceeded))


def free_at(question: Question, findings: Findings) -> datetime | None:
    """When the call may run unasked: if nothing but ceilings asks, and time alone frees all of them."""
    asked = {finding.rule for finding in findings.found if finding.level is Level.ASK}
    return frees_at(question.exceeded) if all(rule.startswith("limit.") for rule in asked) else None


def ceilings_of(actor: Actor, policy: Policy) -> tuple[Ceiling, ...]:
    """What the actor may use up; a role that the policy does not know may do nothing anyway."""
    role = policy.roles.get(policy.role_for(actor.user_id, actor.role))
    return role.ceilings if role else ()


def shown(exceeded: Exceeded) -> str:
    """Such as `60 + 1 / 60, 14:05:10 UTC`; numbers, which need no translation."""
    text = f"{exceeded.used:.10g} + {exceeded.wanted:.10g} / {exceeded.ceiling.most:.10g}"
    return f"{text}, {exceeded.frees_at:%Y-%m-%d %H:%M:%S} UTC" if exceeded.frees_at else text
