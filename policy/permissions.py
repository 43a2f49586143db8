"""Who may do what: roles and attributes, default deny; a prohibition wins over every permission."""

from contracts.verdicts import Question
from policy.findings import Findings
from policy.roles import Policy


def authorise(question: Question, policy: Policy, findings: Findings) -> None:
    """Add what the rules of the policy say to each effect that was found."""
