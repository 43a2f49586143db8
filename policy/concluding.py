"""From findings to the verdict: the strictest finding wins, and a question is made ready to be put to a person."""

from contracts.verdicts import Allow, Ask, Deny, Question, Verdict
from policy.ceilings import free_at
from policy.findings import Findings, Level
from policy.risk import judge_risk
from policy.roles import Policy, Role


def concluded(question: Question, policy: Policy, role: Role | None, findings: Findings) -> Verdict:
    """The verdict on everything that was found."""
    risk, parts = judge_risk(question, role or Role(question.actor.role), findings)
    level, effects = findings.level, tuple(findings.effects)
    reasons, version = findings.reasons(), policy.version
    if level is Level.DENY:
        return Deny(reasons=reasons, effects=effects, risk=risk, policy_version=version, risk_parts=parts)
    if level is Level.ASK:
        return Ask(
            reasons=reasons,
            egress=tuple(findings.egress),
            effects=effects,
            risk=risk,
            policy_version=version,
            risk_parts=parts,
            free_at=free_at(question, findings),
        )
    return Allow(
        reasons=reasons,
        egress=tuple(findings.egress),
        effects=effects,
        risk=risk,
        policy_version=version,
        risk_parts=parts,
    )
