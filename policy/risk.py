"""One number for how much could go wrong, as a sum of named parts that anybody can follow; 100 is what is denied."""

from contracts.verdicts import Question, RiskPart
from policy.findings import Findings, Level, visible
from policy.risk_parts import PARTS
from policy.roles import Role
from policy.rule_of_two import acts_outside, holds_all_three, is_named
from policy.rules import Rule

HIGHEST = 99
"""For what may still happen."""

Risk = tuple[int, tuple[RiskPart, ...]]


def assess(question: Question, role: Role, findings: Findings) -> Risk:
    """The risk of doing it, and the parts that it is the sum of; a part that would lead beyond HIGHEST is cut."""
    other = dict(role.risk.points)
    total, parts = 0, []
    for part in PARTS:
        share, detail = part.measure(question, role, findings)
        points = min(round(share * other.get(part.name, part.most)), HIGHEST - total)
        if points > 0:
            total += points
            parts.append(RiskPart(name=part.name, points=points, detail=visible(detail)))
    return total, tuple(parts)


def judge_risk(question: Question, role: Role, findings: Findings) -> Risk:
    """Add what the risk itself asks or denies, whatever else permits it, and give the risk of the whole."""
    risk, parts = assess(question, role, findings)
    why = f"{risk}: " + ", ".join(f"{part.name} {part.points}" for part in sorted(parts, key=lambda part: -part.points))
    if role.risk.deny_at is not None and risk >= role.risk.deny_at:
        findings.deny(Rule.RISK_EXTREME, why)
    elif role.risk.ask_at is not None and risk >= role.risk.ask_at:
        findings.ask(Rule.RISK_HIGH, why)
    if holds_all_three(question, findings) and not is_named(question, findings):
        findings.ask(Rule.RISK_RULE_OF_TWO, ", ".join(acts_outside(question, findings)))
    return _denied(parts) if findings.level is Level.DENY else (risk, parts)


def _denied(parts: tuple[RiskPart, ...]) -> Risk:
    return 100, (*parts, RiskPart(name="denied", points=100 - sum(part.points for part in parts)))
