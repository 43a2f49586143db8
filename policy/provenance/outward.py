"""Effects that others notice or nobody can take back: what the person must have said for them to run unasked."""

from contracts.provenance import Effect, Traced
from contracts.verdicts import Question
from policy.findings import Findings
from policy.provenance.places import is_account, is_link, is_mail
from policy.rules import Rule

OUTWARD: frozenset[Effect] = frozenset(("send", "share", "money", "account", "delete", "credential", "execute"))
_GIVING: frozenset[Effect] = frozenset(("send", "share"))
"""One wish for both: who asks for a file to be sent to somebody has asked for it to be shared with them."""
_LEAVING: frozenset[Effect] = frozenset(("send", "share", "money", "egress"))

_RULES: dict[str, Rule] = {
    "destination": Rule.PROVENANCE_DESTINATION,
    "recipient": Rule.PROVENANCE_RECIPIENT,
    "amount": Rule.PROVENANCE_AMOUNT,
    "command": Rule.PROVENANCE_COMMAND,
}


def judge_outward(question: Question, effects: tuple[Effect, ...], findings: Findings) -> None:
    """Add what is to be said about a call that a stranger may have had a part in."""
    unasked = tuple(effect for effect in effects if not _asked_for(effect, question))
    own = Findings()
    for one in question.arguments:
        if "#" in one.name:
            _judge_carried(one, effects, own)
        elif one.kind in ("text", "query"):
            _judge_text(one, question, effects, own)
        elif one.kind == "secret" and one.steered:
            own.deny(Rule.PROVENANCE_CREDENTIAL, one.name)
        elif one.steered:
            _judge_steered(one, question, effects, unasked, own)
        elif one.how == "listed":
            _judge_listed(one, question, effects, own)
    if unasked and not own.found:
        own.ask(Rule.PROVENANCE_NOT_ASKED, ", ".join(unasked))
    findings.merge(own)


def _asked_for(effect: Effect, question: Question) -> bool:
    if effect in ("read", "egress"):
        return True
    if effect == "write":
        return bool({"write", *OUTWARD}.intersection(question.spoken_effects))
    return not (_GIVING if effect in _GIVING else {effect}).isdisjoint(question.spoken_effects)


def _judge_steered(
    one: Traced, question: Question, effects: tuple[Effect, ...], unasked: tuple[Effect, ...], findings: Findings
) -> None:
    """A question if the person wants this kind of thing done and has not said to whom; otherwise it is not theirs."""
    if unasked and not question.delegated:
        findings.deny(Rule.PROVENANCE_NOT_ASKED, ", ".join(unasked))
    elif one.kind in ("recipient", "destination") and _named_another(one, question, effects):
        findings.deny(Rule.PROVENANCE_OTHER_RECIPIENT, one.text)
    elif "money" in effects and _is_strange(one):
        findings.deny(Rule.PROVENANCE_STRANGER, one.text)
    else:
        findings.ask(_RULES.get(one.kind, Rule.PROVENANCE_THING), one.text)


def _is_strange(one: Traced) -> bool:
    """Whether an account stands in no text that the person pointed to, if anywhere at all."""
    return one.kind == "recipient" and not one.pointed and (one.how == "foreign" or is_account(one.text))


def _named_another(one: Traced, question: Question, effects: tuple[Effect, ...]) -> bool:
    """Whether the person wrote a recipient of the same form: then they had somebody in mind, and it is not this one."""
    named = question.spoken_recipients
    if is_mail(one.text):
        return any(is_mail(name) for name in named)
    if is_account(one.text):
        return any(is_account(name) or ("money" in effects and not is_mail(name)) for name in named)
    return is_link(one.text) and any(map(is_link, named))


def _judge_listed(one: Traced, question: Question, effects: tuple[Effect, ...], findings: Findings) -> None:
    """One of the person's own list, but chosen by somebody who has read what strangers wrote."""
    if one.kind in ("recipient", "destination"):
        words_are_said = not any(other.kind == "text" and other.steered for other in question.arguments)
        if question.labels.space != "shared" or "money" in effects or not words_are_said:
            findings.ask(Rule.PROVENANCE_LISTED, one.text)
    elif "delete" in effects and not question.labels.reversible:
        findings.ask(Rule.PROVENANCE_LISTED, one.text)


def _judge_text(one: Traced, question: Question, effects: tuple[Effect, ...], findings: Findings) -> None:
    """Free words never become authority, but may be told to whom the person named."""
    if not one.steered:
        return
    if one.provenance.confidentiality == "secret" and not _LEAVING.isdisjoint(effects):
        if "credential" in question.spoken_effects:
            findings.ask(Rule.PROVENANCE_SECRET, one.name)
        else:
            findings.deny(Rule.PROVENANCE_SECRET, one.name)
    if (
        "account" in effects
        or "credential" in effects
        or (
            not _GIVING.isdisjoint(effects)
            and not any(other.kind in ("recipient", "destination") for other in question.arguments)
        )
    ):
        findings.ask(Rule.PROVENANCE_WORDS, one.text)


def _judge_carried(one: Traced, effects: tuple[Effect, ...], findings: Findings) -> None:
    """Texts that make an agent pass their own address on to others spread like that; without it the words may go."""
    if not one.steered or _LEAVING.isdisjoint(effects):
        return
    if one.how == "foreign" and not one.pointed:
        findings.deny(Rule.PROVENANCE_LINK, one.text)
    else:
        findings.ask(Rule.PROVENANCE_LINK, one.text)
