"""Budgets and rates: a call that would go over one is asked."""

from contracts.verdicts import Question
from policy.findings import Findings


def judge_ceilings(question: Question, findings: Findings) -> None:
    """Add a question for each ceiling that the call would go over."""
