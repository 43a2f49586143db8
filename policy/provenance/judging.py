"""What strangers wrote becomes no command, recipient, amount or destination without the person."""

from contracts.provenance import Effect, Traced
from contracts.verdicts import CommandAction, EffectAction, Question, SendAction, VisitAction
from policy.findings import Findings
from policy.provenance.outward import OUTWARD, judge_outward
from policy.provenance.places import address_of
from policy.rules import Rule
from policy.urls import KnownHosts, read_address


def judge_provenance(question: Question, known: KnownHosts, findings: Findings) -> None:
    """Add what is to be said about where the arguments came from.

    The person's own words say what is done; values only say to what, by their labels. Where nothing was traced, the
    one label of all arguments together decides.
    """
    if any(isinstance(action, EffectAction) for action in question.actions):
        _judge_effects(question, known, findings)
    if not question.arguments:
        _judge_whole(question, known, findings)
        return
    for action in question.actions:
        if isinstance(action, CommandAction):
            _judge_command(question, findings)
        elif isinstance(action, SendAction) and action.recipient != "self":
            _judge_recipient(question, action.recipient, findings)
        elif isinstance(action, VisitAction):
            _judge_address(question, action, known, findings)


def effects_of(question: Question) -> tuple[Effect, ...]:
    """What one call has for effects: those of its tool, and those that its actions say."""
    said = (effect for action in question.actions if isinstance(action, EffectAction) for effect in action.effects)
    return tuple(dict.fromkeys((*question.labels.effects, *said)))


def _judge_effects(question: Question, known: KnownHosts, findings: Findings) -> None:
    effects = effects_of(question)
    if not effects:
        findings.deny(Rule.PROVENANCE_UNLABELLED, question.tool)
        return
    if not question.tainted and question.provenance.trusted and not any(one.steered for one in question.arguments):
        return
    if (question.args and not question.arguments) or _reaches_untraced(question):
        _judge_untraced(question, effects, findings)
    elif OUTWARD.isdisjoint(effects) and question.labels.space == "own" and question.labels.reversible:
        _judge_own_write(question, effects, findings)
    elif "write" in effects or not OUTWARD.isdisjoint(effects):
        judge_outward(question, effects, findings)
    elif "egress" in effects:
        _judge_fetch(question, known, findings)


def _judge_own_write(question: Question, effects: tuple[Effect, ...], findings: Findings) -> None:
    """It can be taken back, so it runs if it has anything to do with what the person said; a time alone has not."""
    if "write" not in effects or any(
        one.how in ("said", "approved", "contact", "listed", "made") for one in _things(question)
    ):
        return
    findings.ask(Rule.PROVENANCE_UNANCHORED, question.tool)


def _things(question: Question) -> list[Traced]:
    return [one for one in question.arguments if one.kind not in ("time", "number", "choice") and "#" not in one.name]


def _judge_fetch(question: Question, known: KnownHosts, findings: Findings) -> None:
    """What is fetched goes out with the address that asks for it."""
    for one in question.arguments:
        if one.steered and one.kind in ("destination", "recipient") and not _is_known(one.text, known):
            findings.ask(Rule.PROVENANCE_DESTINATION, one.text)
        elif one.steered and one.provenance.confidentiality == "secret":
            findings.ask(Rule.PROVENANCE_SECRET, one.name)


def _reaches_untraced(question: Question) -> bool:
    """Whether the call goes somewhere that none of its traced arguments says."""
    traced = {one.text for one in question.arguments}
    effects = (action for action in question.actions if isinstance(action, EffectAction))
    return any(place not in traced for action in effects for place in action.destinations)


def _judge_untraced(question: Question, effects: tuple[Effect, ...], findings: Findings) -> None:
    if set(effects) != {"read"}:
        findings.ask(Rule.PROVENANCE_UNTRUSTED, ", ".join(question.provenance.origins))


def _judge_command(question: Question, findings: Findings) -> None:
    steered = [one for one in question.arguments if one.steered]
    for one in steered:
        findings.ask(Rule.PROVENANCE_COMMAND, one.text)
    if not steered and not question.provenance.trusted and not any(one.kind == "command" for one in question.arguments):
        findings.ask(Rule.PROVENANCE_UNTRUSTED, ", ".join(question.provenance.origins))


def _judge_recipient(question: Question, recipient: str, findings: Findings) -> None:
    traced = [one for one in question.arguments if one.text == recipient]
    if any(one.steered or one.how == "listed" for one in traced):
        findings.ask(Rule.PROVENANCE_RECIPIENT, recipient)
    elif not traced and not question.provenance.trusted:
        findings.ask(Rule.PROVENANCE_UNTRUSTED, ", ".join(question.provenance.origins))


def _judge_address(question: Question, visit: VisitAction, known: KnownHosts, findings: Findings) -> None:
    traced = [one for one in question.arguments if _same_address(one.text, visit.url)]
    steered = any(one.steered for one in traced) if traced else not question.provenance.trusted
    if steered and not _is_known(visit.url, known):
        findings.ask(Rule.PROVENANCE_DESTINATION, visit.url)
    if visit.write and any(one.steered and one.provenance.confidentiality == "secret" for one in question.arguments):
        findings.ask(Rule.PROVENANCE_SECRET, visit.url)


def _same_address(text: str, url: str) -> bool:
    found = address_of(text)
    return found is not None and found == address_of(url)


def _is_known(text: str, known: KnownHosts) -> bool:
    """Whether the person named the host, or opened it for this task."""
    target = read_address(text if "://" in text else f"https://{text}", Findings())
    return target is not None and (target.host in known.spoken or known.grant(target.host, target.port) is not None)


def _judge_whole(question: Question, known: KnownHosts, findings: Findings) -> None:
    if question.provenance.trusted:
        return
    origin = ", ".join(question.provenance.origins)
    for action in question.actions:
        if (
            isinstance(action, CommandAction)
            or (isinstance(action, SendAction) and action.recipient != "self")
            or (isinstance(action, VisitAction) and not _is_known(action.url, known))
        ):
            findings.ask(Rule.PROVENANCE_UNTRUSTED, origin)
