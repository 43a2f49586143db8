"""What strangers wrote becomes no command, recipient or destination without the person."""

from contracts.verdicts import CommandAction, Question, SendAction, VisitAction
from policy.findings import Findings
from policy.rules import Rule
from policy.urls import KnownHosts, read_address


def judge_provenance(question: Question, known: KnownHosts, findings: Findings) -> None:
    """Add what is to be said about where the arguments came from."""
    if question.provenance.trusted:
        return
    origin = ", ".join(question.provenance.origins)
    for action in question.actions:
        if isinstance(action, CommandAction) or (isinstance(action, SendAction) and action.recipient != "self"):
            findings.ask(Rule.PROVENANCE_UNTRUSTED, origin)
        elif isinstance(action, VisitAction):
            target = read_address(action.url, findings)
            if target and target.host not in known.spoken and known.grant(target.host, target.port) is None:
                findings.ask(Rule.PROVENANCE_UNTRUSTED, origin)
