"""What kind of call a question is about: its shape, which a person may let pass for good, and its aim, which is the
same whatever way is taken."""

import posixpath
from collections.abc import Iterator
from dataclasses import dataclass, field

from ada_url import URL

from contracts.approvals import Shape, StandingRule
from contracts.provenance import Effect
from contracts.verdicts import Action, CommandAction, EffectAction, FileAction, Question, SendAction, VisitAction
from policy.commands.touched import tool_path, touched_paths
from policy.findings import DETAIL_CHARACTERS, Finding, Findings, Level, Ran, visible
from policy.paths import resolve
from policy.rules import Rule

NEVER_STANDING: frozenset[Effect] = frozenset({"delete", "money", "credential", "account"})
"""Effects that are asked each time."""

MAY_STAND = frozenset(
    {
        Rule.APPROVAL_COMMUNICATION,
        Rule.COMMAND_FLAG,
        Rule.COMMAND_INSTALLS,
        Rule.COMMAND_NETWORK,
        Rule.COMMAND_OPAQUE,
        Rule.COMMAND_SENDS,
        Rule.COMMAND_UNKNOWN,
        Rule.FILE_READ,
        Rule.FILE_WRITE,
        Rule.SEND_OTHERS,
        Rule.URL_PLAIN,
        Rule.URL_PORT,
        Rule.URL_UNLISTED,
        Rule.URL_WRITE,
    }
)
"""Reasons for a question that a person can settle once and for all. Any other one is put each time, so that a rule
that is new or stricter asks again."""

MOST_PROGRAMS = 4
"""A script that starts more programs is no kind of call but a piece of work of its own."""

_OUT: frozenset[Effect] = frozenset({"egress", "send", "share"})
_GRAVEST: tuple[Effect, ...] = ("money", "credential", "account", "delete")


class _Shapeless(Exception):
    """Raised within this file when a call is of no kind that could be named."""


@dataclass
class _Parts:
    """Collects the parts of a shape; a part that is said twice holds both."""

    said: dict[str, dict[str, None]] = field(default_factory=dict)

    def say(self, name: str, value: str) -> None:
        self.said.setdefault(name, {}).setdefault(value)

    def all(self) -> dict[str, str]:
        return {name: ", ".join(values) for name, values in self.said.items()}


def shape_of(question: Question, findings: Findings, *, step_up: bool) -> Shape | None:
    """None if it must be asked every time."""
    steered = any(each.steered for each in question.arguments) or not (
        question.provenance.trusted or question.arguments
    )
    settled = set(findings.asked()) <= MAY_STAND
    if step_up or steered or not settled or NEVER_STANDING & findings.effects.keys() or findings.level is Level.DENY:
        return None
    parts = _Parts()
    try:
        for action in question.actions:
            _say_action(action, findings, parts)
        for finding in findings.found:
            if finding.level is Level.ASK:
                parts.say("asks", _about(finding))
        for grant in findings.egress:
            parts.say("host", f"{grant.host}:{grant.port}")
    except _Shapeless:
        return None
    return Shape(tool=question.tool, parts=parts.all())


def fits(rule: StandingRule, shape: Shape, question: Question) -> bool:
    """Whether what the person allowed for good is this very kind of call, for this very person in this very role."""
    actor = question.actor
    lapsed = rule.expires_at is not None and question.at is not None and rule.expires_at <= question.at
    return not lapsed and (rule.user_id, rule.role, rule.shape) == (actor.user_id, actor.role, shape)


def destinations_of(question: Question, findings: Findings) -> tuple[str, ...]:
    """Where it goes, as a person must see it."""
    found = dict(findings.destinations)
    for action in question.actions:
        if isinstance(action, SendAction) and action.recipient != "self":
            found.setdefault(visible(action.recipient))
        elif isinstance(action, EffectAction):
            found.update(dict.fromkeys(map(visible, action.destinations)))
    for grant in findings.egress:
        found.setdefault(grant.host if grant.port == 443 else f"{grant.host}:{grant.port}")
    return tuple(found)


def aim_of(question: Question, findings: Findings) -> str:
    """One line for each thing that it is after: the gravest effect, and where it goes or what it is done to."""
    within = "use" if _OUT.isdisjoint(findings.effects) else "out"
    kind = next((each for each in _GRAVEST if each in findings.effects), within)
    about = destinations_of(question, findings) or tuple(_objects(question, findings)) or (question.tool,)
    return "\n".join(sorted({f"{kind}:{each.lower()}" for each in about}))


def _objects(question: Question, findings: Findings) -> Iterator[str]:
    """What a call that goes nowhere is done to."""
    for action in question.actions:
        if isinstance(action, FileAction):
            yield visible(tool_path(action.path))
    for finding in findings.found:
        if finding.level is Level.ASK and finding.rule.startswith("file."):
            yield finding.detail
    rules = ",".join(rule for rule in findings.asked() if rule.startswith("command."))
    words = {posixpath.basename(word) or word for ran in findings.ran for word in ran.words if word[:1] != "-"}
    if rules:
        yield visible(f"{rules} {' '.join(sorted(words))}")


def _say_action(action: Action, findings: Findings, parts: _Parts) -> None:
    match action:
        case CommandAction():
            _say_command(action, findings, parts)
        case VisitAction():
            parts.say("visit", "writes" if action.write else "reads")
        case FileAction():
            parts.say(action.operation, _folder(tool_path(action.path)))
        case SendAction():
            parts.say("recipient", action.recipient)
        case EffectAction():
            if action.amount is not None:
                raise _Shapeless
            parts.say("effects", " ".join(sorted(action.effects)))
            parts.say("to", " ".join(sorted(action.destinations)) or "-")
        case _:
            pass


def _say_command(action: CommandAction, findings: Findings, parts: _Parts) -> None:
    """Programs with their words; those that name a file stand for its folder, those with an address for its host."""
    if action.env or not findings.ran or len(findings.ran) > MOST_PROGRAMS:
        raise _Shapeless
    code = touched_paths(action).runs
    for ran in findings.ran:
        parts.say("command", " ".join([ran.program, *(_word(word, ran, code) for word in ran.words)]))
    parts.say("folder", action.cwd)


def _word(word: str, ran: Ran, code: tuple[str, ...]) -> str:
    if not ran.exact or word != visible(word):
        raise _Shapeless
    if word.startswith("-"):
        return word
    if "://" in word:
        return _host(word)
    if "/" not in word and word not in (".", ".."):
        return f"'{word}'" if " " in word else word
    if len(ran.folders) != 1:
        raise _Shapeless
    path = resolve(word, ran.folders[0])
    return path if path in code else _folder(path)


def _host(word: str) -> str:
    try:
        url = URL(word)
    except ValueError:
        raise _Shapeless from None
    return f"{url.protocol}//{url.host}/*"


def _folder(path: str) -> str:
    if ".." in path.split("/"):
        raise _Shapeless
    return f"{posixpath.dirname(path).rstrip('/')}/*"


def _about(finding: Finding) -> str:
    """The reason of a question, with what it is about where that is a place."""
    if len(finding.detail) >= DETAIL_CHARACTERS:
        raise _Shapeless
    if finding.rule.startswith("file."):
        return f"{finding.rule} {_folder(finding.detail)}"
    return finding.rule if finding.rule.startswith("command.") else f"{finding.rule} {finding.detail}".strip()
