"""Where a call goes: hosts, recipients and accounts, and which of them the person has a hand in."""

from collections.abc import Iterable

from contracts.messages import HostGrant
from contracts.verdicts import Action, EffectAction, Question, SendAction, VisitAction
from policy.findings import Findings
from policy.rules import Rule
from policy.urls import KnownHosts, read_address

_CLAIMS = frozenset({Rule.URL_LISTED, Rule.URL_SPOKEN, Rule.URL_APPROVED})
_OWN = ("said", "contact", "approved")


def destinations_of(actions: Iterable[Action], egress: Iterable[HostGrant]) -> tuple[str, ...]:
    """Everything outside that a call reaches, in the order found, each once."""
    found: list[str] = []
    for action in actions:
        match action:
            case VisitAction():
                target = read_address(action.url, Findings())
                found.append(target.host if target else action.url)
            case SendAction() if action.recipient != "self":
                found.append(action.recipient)
            case EffectAction():
                found += action.destinations
            case _:
                pass
    return tuple(dict.fromkeys((*found, *(grant.host for grant in egress))))


def foreign(destinations: tuple[str, ...], question: Question, findings: Findings) -> tuple[str, ...]:
    """Those that neither the person, nor their policy, nor their address book has named."""
    known = KnownHosts.of(question.spoken_hosts, question.approved_hosts)
    own = set(known.spoken) | {grant.host for grant in known.grants}
    own.update(f.detail.rpartition(":")[0] or f.detail for f in findings.found if f.rule in _CLAIMS)
    own.update(traced.text for traced in question.arguments if traced.how in _OWN)
    return tuple(destination for destination in destinations if destination not in own)
