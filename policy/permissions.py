"""Who may do what: roles and attributes, default deny; a prohibition wins over every permission."""

import math
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC

from contracts.messages import HostGrant
from contracts.values import JsonObject
from contracts.verdicts import EffectAction, Question, SendAction
from policy.cedar.ruleset import Answer, Request, Uid
from policy.cedar.schema import EGRESS, MOST, USE
from policy.findings import Findings
from policy.hosts import normal_host
from policy.roles import Policy
from policy.rules import Rule

MOST_HOSTS = 100
"""Of one call. Each is a question of its own, and nobody could look through more on a card either."""

_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


def authorise(question: Question, policy: Policy, findings: Findings) -> None:
    """Add what the rules of the policy say to the tool, and to each effect that was found."""
    if len(findings.egress) > MOST_HOSTS:
        findings.deny(Rule.PERMISSION_BROKEN, f"{len(findings.egress)} hosts in one call; at most {MOST_HOSTS}")
        return
    requests = list(requests_of(question, policy, findings))
    for request, answer in zip(requests, policy.rules.answers(requests), strict=True):
        findings.rules.update(dict.fromkeys((*answer.forbidden, *answer.asked, *answer.permitted)))
        _conclude(request, answer, findings)


def _conclude(request: Request, answer: Answer, findings: Findings) -> None:
    if answer.problem:
        findings.deny(Rule.PERMISSION_BROKEN, answer.problem)
    for rule_id in answer.forbidden:
        findings.deny(Rule.PERMISSION_FORBIDDEN, rule_id)
    for rule_id in answer.asked:
        findings.ask(Rule.PERMISSION_ASKED, rule_id)
    if not answer.permitted and not answer.forbidden:
        what = request.resource[1]
        findings.deny(Rule.PERMISSION_NONE, what if request.action == USE else f"{request.action} ({what})")


def requests_of(question: Question, policy: Policy, findings: Findings) -> Iterator[Request]:
    """One for the tool and one for each effect; reaching out is asked of each host."""
    tool: Uid = ("Tool", _clean(question.tool))
    labels = question.labels
    about_tool: JsonObject = {"space": labels.space, "reversible": labels.reversible, "output": labels.output}
    context = _context(question, findings)
    user = question.actor.user_id
    base = Request(_clean(user), policy.role_for(user, question.actor.role), USE, tool, (), about_tool, context)
    yield base
    for effect in findings.effects:
        hosts = dict.fromkeys(_clean(normal_host(grant.host)) for grant in findings.egress) if effect == EGRESS else {}
        for host in hosts:
            facts: JsonObject = {**context, "host": host, "granted": _is_granted(host, question.approved_hosts)}
            parents = tuple(_sites_of(host))
            yield replace(base, action=effect, resource=("Host", host), parents=parents, attributes={}, context=facts)
        if not hosts:
            yield replace(base, action=effect)


def _context(question: Question, findings: Findings) -> JsonObject:
    at = question.at.astimezone(UTC) if question.at else None
    kinds = sorted({action.kind for action in question.actions})
    return {
        "channel": _clean(question.actor.channel),
        "hour": at.hour if at else -1,
        "weekday": _DAYS[at.weekday()] if at else "",
        "tainted": question.tainted,
        "private": question.private,
        "trusted": question.provenance.trusted,
        "task_risk": question.task_risk,
        "amount": _amount(question),
        "host": "",
        "tool": _clean(question.tool),
        "kinds": list(kinds),
        "destinations": [_clean(each) for each in _destinations(question, findings)],
        "own": all(_is_own(action.kind, action) for action in question.actions),
        "granted": False,
    }


def _is_own(kind: str, action: object) -> bool:
    """The person's own memory, and what is said or given to the person."""
    return kind in ("talk", "memory") or (isinstance(action, SendAction) and action.recipient == "self")


def _amount(question: Question) -> int:
    """In whole units, rounded up; the largest number there is where money is moved and nobody can say how much."""
    total = 0
    for action in question.actions:
        if isinstance(action, EffectAction) and (action.amount is not None or "money" in action.effects):
            known = action.amount is not None and math.isfinite(action.amount)
            total += math.ceil(abs(action.amount or 0)) if known else MOST
    return min(total, MOST)


def _destinations(question: Question, findings: Findings) -> dict[str, None]:
    found = dict(findings.destinations)
    found.update(dict.fromkeys(normal_host(grant.host) for grant in findings.egress))
    for action in question.actions:
        if isinstance(action, EffectAction):
            found.update(dict.fromkeys(action.destinations))
        elif isinstance(action, SendAction):
            found[action.recipient] = None
    return found


def _is_granted(host: str, grants: tuple[HostGrant, ...]) -> bool:
    return any(normal_host(grant.host) == host for grant in grants)


def _sites_of(host: str) -> Iterator[Uid]:
    """What a host belongs to: `*.example.com` for each site that it lies below, `site:…` also for itself."""
    yield "Host", f"site:{host}"
    rest = host
    while "." in rest:
        rest = rest.split(".", 1)[1]
        yield "Host", f"*.{rest}"
        yield "Host", f"site:{rest}"


def _clean(text: str) -> str:
    """Half a surrogate pair, which Cedar would not take, becomes `?`."""
    return text.encode("utf-8", "replace").decode()
