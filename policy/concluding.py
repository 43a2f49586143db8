"""From findings to the verdict: the strictest finding wins, and a question is made ready to be put to a person."""

from contracts.verdicts import Allow, Ask, Deny, Question, Verdict
from policy.findings import Findings, Level
from policy.risk import risk_of
from policy.roles import Policy, Role


def concluded(question: Question, policy: Policy, role: Role | None, findings: Findings) -> Verdict:
    """The verdict on everything that was found."""
    level, effects = findings.level, tuple(findings.effects)
    risk = risk_of(level, effects, tainted=question.tainted, trusted=question.provenance.trusted)
    reasons, version, rules = findings.reasons(), policy.version, tuple(findings.rules)
    if level is Level.DENY:
        return Deny(reasons=reasons, effects=effects, risk=risk, policy_version=version, rules=rules)
    kind = Ask if level is Level.ASK else Allow
    egress = tuple(findings.egress)
    return kind(reasons=reasons, egress=egress, effects=effects, risk=risk, policy_version=version, rules=rules)
