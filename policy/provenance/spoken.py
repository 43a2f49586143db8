"""Which effects the person asked for with their own words, and to whom: the control flow that a stranger cannot give."""

import re
from collections.abc import Iterable, Iterator

from contracts.provenance import Effect
from policy.provenance.sources import Sources
from policy.provenance.verbs import CHINESE, DELEGATING, LED_VERBS, PLAIN_VERBS, TURNED
from policy.provenance.wording import folded

_QUOTED = re.compile(r"'[^'\n]*\s[^'\n]*\s[^'\n]*'(?!\w)|\"[^\"\n]*\s[^\"\n]*\s[^\"\n]*\"|“[^”]*”|「[^」]*」|`[^`]*`")
"""What the person quotes is something to be passed on, not an order."""

_REFUSED = re.compile(r"(?:\bdo not|\bdon't|\bdon’t|\bnever|\bnot|\bwithout|\bshouldn't|\bmust not|\bcannot)\s+(?:\w+\s+)?$")
_FORGET = re.compile(r"(?:not|n't|n’t|never)\s+forget\s+(?:to\s+)?$")
_CHINESE_REFUSED = re.compile(r"(?:不要|别|不用|不必|无需|禁止|切勿|勿|不能|不可|不许)[^，。；！？]{0,4}$")
_LEAD = re.compile(
    r"(?:^|[.,;:!?\n(—-]|\bplease|\band|\bthen|\balso|\bto|\bjust|\bnow|\bnext|\bfinally|\bcan you|\bcould you|\bwould you"
    r"|\byou|\bor|\bme|\bus|\bahead|\blet's|\bkindly|\bfirst|\bhave|[\u3400-\u9fff，。；：！？])\s*(?:\d+[.)]\s*)?$"
)
_NOUN_BEFORE = re.compile(r"\b(?:a|an|the|this|that|these|my|your|his|her|our|their|its|any|each|every|no|of|in|by|via|per)\s+$")
_TO_ME = re.compile(r"^\s+(?:me|us|myself)\b")
_CLAUSE_END = re.compile(r"[.!?;\n。！？；](?:\s|$)|,?\s+(?:and|then)\s+(?=please|then|also)")
_WORD = re.compile(r"[a-z]+(?:'[a-z]+)?")
_TURNED = tuple((re.compile(rf"(?:{verbs})"), re.compile(after), effects) for verbs, after, effects in TURNED)
_CHINESE = tuple((re.compile(form), effects) for form, effects in CHINESE)
_DELEGATING = re.compile(DELEGATING)
_SPEAKING = frozenset(("send", "share", "credential"))


def spoken_effects(words: Iterable[str]) -> tuple[Effect, ...]:
    """Of all messages of the person in this task; `words` are their texts. Reading needs no asking."""
    found: dict[Effect, None] = {"read": None}
    for text in words:
        plain = _QUOTED.sub(" … ", folded(text))
        for effect in (*_english(plain), *_chinese(plain)):
            found[effect] = None
    return tuple(found)


def delegates(words: Iterable[str]) -> bool:
    """Whether the person told the agent to do what some text says, such as a to-do list or instructions in a file."""
    return any(_DELEGATING.search(_QUOTED.sub(" … ", folded(text))) for text in words)


def spoken_recipients(sources: Sources) -> tuple[str, ...]:
    """Mail addresses and accounts that the person wrote, and names from their own lists: whom they had in mind."""
    return tuple(dict.fromkeys((*sorted(sources.words.mails), *sources.words.accounts, *sources.names)))


def _english(text: str) -> Iterator[Effect]:
    for place in _WORD.finditer(text):
        verb = place[0]
        before, after = text[: place.start()], text[place.end() :]
        if not _is_order(verb, before):
            continue
        clause = _CLAUSE_END.split(after, maxsplit=1)[0]
        effects = PLAIN_VERBS.get(verb) or LED_VERBS.get(verb, ())
        turned = [more for verbs, form, more in _TURNED if verbs.fullmatch(verb) and form.search(clause)]
        for effect in (*effects, *(effect for more in turned for effect in more)):
            if not (effect in _SPEAKING and _TO_ME.match(after)):
                yield effect


def _is_order(verb: str, before: str) -> bool:
    near = before[-48:]
    if _REFUSED.search(near) and not _FORGET.search(near):
        return False
    if _NOUN_BEFORE.search(near):
        return False
    return verb in PLAIN_VERBS or _LEAD.search(near) is not None or _FORGET.search(near) is not None


def _chinese(text: str) -> Iterator[Effect]:
    for form, effects in _CHINESE:
        if any(not _CHINESE_REFUSED.search(text[: place.start()]) for place in form.finditer(text)):
            yield from effects
