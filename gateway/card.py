"""What a card says of an approval beside the arguments, line by line, the same on every channel."""

from collections.abc import Callable, Iterator

from contracts.language import Language
from contracts.messages import HostGrant
from contracts.task import Approval
from contracts.texts import approvals as texts
from contracts.texts import gateway as gateway_texts
from contracts.texts.sentence import Sentence
from contracts.verdicts import Reason
from gateway.rich import clip

SentenceFor = Callable[[str], Sentence | None]
"""The sentence of a policy rule, with `{detail}` in it; None for a rule that nobody has worded."""

LINE_CHARACTERS = 400
PLACES_CHARACTERS = 200


def card_lines(approval: Approval, language: Language, sentence_for: SentenceFor) -> Iterator[str]:
    """Where it goes, what it does, why it is asked, how risky it is, and what a yes takes."""
    places = where(approval)
    if places:
        yield gateway_texts.GOES_TO.say(language) + clip(places, PLACES_CHARACTERS)
    if approval.effects:
        yield gateway_texts.EFFECTS.say(language) + ", ".join(approval.effects)
    if approval.reasons:
        reasons = "; ".join(reason_text(reason, language, sentence_for) for reason in approval.reasons)
        yield gateway_texts.WHY.say(language) + clip(reasons, LINE_CHARACTERS)
    if approval.risk_parts:
        parts = ", ".join(f"{part.name} {part.points:+d}" for part in approval.risk_parts)
        yield texts.RISK_OF.say(language) + clip(f"{approval.risk}/100 = {parts}", LINE_CHARACTERS)
    if len(approval.covers) > 1:
        yield texts.EVERY_ONE.say(language, count=len(approval.covers))
    if approval.shape is not None:
        yield texts.ALWAYS_HINT.say(language, shape=clip(approval.shape.text(), PLACES_CHARACTERS))
    if approval.step_up:
        yield texts.FACTOR_NEEDED.say(language, short=approval.approval_id)
    yield gateway_texts.EXPIRES.say(language, at=f"{approval.expires_at:%Y-%m-%d %H:%M}")


def where(approval: Approval) -> str:
    """Every place that it reaches; a host that is pinned to an address says so."""
    pinned = [_host(grant) for grant in approval.egress if grant.address]
    hosts = [] if approval.destinations else [_host(grant) for grant in approval.egress]
    return ", ".join(dict.fromkeys((*approval.destinations, *pinned, *hosts)))


def reason_text(reason: Reason, language: Language, sentence_for: SentenceFor) -> str:
    """The rule's sentence; without one, the rule's id and its detail."""
    sentence = sentence_for(reason.rule)
    if sentence is None:
        return f"{reason.rule} ({reason.detail})" if reason.detail else reason.rule
    return sentence.say(language, detail=reason.detail)


def _host(grant: HostGrant) -> str:
    pinned = f" ({grant.address})" if grant.address else ""
    return f"{grant.host}:{grant.port}{pinned}"
