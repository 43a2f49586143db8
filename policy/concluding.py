"""From findings to the verdict: the strictest finding wins, and a question is made ready to be put to a person."""

from contracts.verdicts import Allow, Ask, Deny, Question, Verdict
from policy.findings import Findings, Level
from policy.risk import risk_of
from policy.roles import ApprovalRules, Policy, Role
from policy.shapes import aim_of, destinations_of, fits, shape_of


def concluded(question: Question, policy: Policy, role: Role | None, findings: Findings) -> Verdict:
    """The verdict on everything that was found."""
    level, effects = findings.level, tuple(findings.effects)
    risk = risk_of(level, effects, tainted=question.tainted, trusted=question.provenance.trusted)
    reasons, version, rules = findings.reasons(), policy.version, tuple(findings.rules)
    if level is Level.DENY:
        return Deny(reasons=reasons, effects=effects, risk=risk, policy_version=version, rules=rules)
    allowed = Allow(
        reasons=reasons,
        egress=tuple(findings.egress),
        effects=effects,
        risk=risk,
        policy_version=version,
        rules=rules,
        destinations=destinations_of(question, findings),
    )
    if level is Level.ALLOW:
        return allowed
    return _asked(allowed, question, role.approvals if role else ApprovalRules(), findings)


def _asked(allowed: Allow, question: Question, approvals: ApprovalRules, findings: Findings) -> Allow | Ask:
    """The question, unless the person has settled it for this kind of call."""
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
    )
