"""From findings to the verdict: the strictest finding wins, and a question is made ready to be put to a person."""

from contracts.verdicts import Allow, Ask, Deny, Question, Verdict
from policy.ceilings import free_at
from policy.findings import Findings, Level
from policy.risk import judge_risk
from policy.roles import Policy, Role
from policy.shapes import aim_of, destinations_of, fits, shape_of


def concluded(question: Question, policy: Policy, role: Role | None, findings: Findings) -> Verdict:
    """The verdict on everything that was found."""
    known = role or Role(question.actor.role)
    risk, parts = judge_risk(question, known, findings)
    reasons, version, rules = findings.reasons(), policy.version, tuple(findings.rules)
    level, effects = findings.level, tuple(findings.effects)
    if level is Level.DENY:
        return Deny(reasons=reasons, effects=effects, risk=risk, policy_version=version, rules=rules, risk_parts=parts)
    allowed = Allow(
        reasons=reasons,
        egress=tuple(findings.egress),
        effects=effects,
        risk=risk,
        policy_version=version,
        rules=rules,
        risk_parts=parts,
        destinations=destinations_of(question, findings),
    )
    return allowed if level is Level.ALLOW else _asked(allowed, question, known, findings)


def _asked(allowed: Allow, question: Question, role: Role, findings: Findings) -> Allow | Ask:
    """The question, unless the person has settled it for this kind of call."""
    approvals = role.approvals
    step_up = not findings.effects.keys().isdisjoint(approvals.step_up)
    shape = shape_of(question, findings, step_up=step_up)
    if shape is not None:
        for rule in question.standing:
            if fits(rule, shape, question):
                return allowed.model_copy(update={"standing": rule.rule_id})
    return Ask(
        reasons=allowed.reasons,
        egress=allowed.egress,
        effects=allowed.effects,
        risk=allowed.risk,
        policy_version=allowed.policy_version,
        rules=allowed.rules,
        risk_parts=allowed.risk_parts,
        destinations=allowed.destinations,
        step_up=step_up,
        shape=shape,
        aim=aim_of(question, findings),
        approvers=approvals.approvers,
        free_at=free_at(question, findings),
    )
