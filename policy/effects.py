"""Judge what foreign services do, by the approval rules: money, deletion, speaking with others, secrets, accounts."""

import math

from contracts.verdicts import EffectAction, Question
from policy.files import LEVELS
from policy.findings import Findings
from policy.roles import Role
from policy.rules import Rule


def judge_effects(question: Question, role: Role, findings: Findings) -> None:
    """Add what the role's approval rules say to each effect that no grammar describes."""
    for action in question.actions:
        if isinstance(action, EffectAction):
            _judge(action, question, role, findings)


def _judge(action: EffectAction, question: Question, role: Role, findings: Findings) -> None:
    labels, rules = question.labels, role.approvals
    where = ", ".join(action.destinations) or question.tool
    effects, own = set(action.effects), labels.space == "own"
    findings.destinations.update(dict.fromkeys(action.destinations))
    if "money" in effects and not _is_small(action.amount, rules.spending_over):
        findings.ask(Rule.APPROVAL_SPENDING, _price(action, where))
    if "delete" in effects and not (own and labels.reversible):
        findings.add(LEVELS[rules.data_deletion], Rule.APPROVAL_DELETION, where)
    if effects & {"send", "share"} and not own:
        findings.add(LEVELS[rules.external_communication], Rule.APPROVAL_COMMUNICATION, where)
    if "credential" in effects:
        findings.add(LEVELS[rules.credential_access], Rule.APPROVAL_CREDENTIAL, where)
    if "account" in effects:
        findings.add(LEVELS[rules.account_changes], Rule.APPROVAL_ACCOUNT, where)


def _is_small(amount: float | None, most: float) -> bool:
    """An amount that nobody can tell is never small, and neither is one below zero."""
    return amount is not None and math.isfinite(amount) and 0 <= amount <= most


def _price(action: EffectAction, where: str) -> str:
    return where if action.amount is None else f"{action.amount:g} {action.currency} → {where}".replace("  ", " ")
