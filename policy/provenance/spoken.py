"""Which effects the person asked for with their own words, and to whom: what no stranger can order."""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from contracts.provenance import Effect
from policy.provenance.places import links_in
from policy.provenance.sources import Sources
from policy.provenance.verbs import CHINESE, DELEGATING, LED_VERBS, PLAIN_VERBS, TURNED, TURNED_LATER
from policy.provenance.wording import folded

_QUOTED = re.compile(r"'[^'\n]*\s[^'\n]*\s[^'\n]*'(?!\w)|\"[^\"\n]*\s[^\"\n]*\s[^\"\n]*\"|“[^”]*”|「[^」]*」|`[^`]*`")
"""What the person quotes is something to be passed on, not an order."""

_REFUSED = re.compile(
    r"(?:\bdo not|\bdon't|\bdon’t|\bnever|\bnot|\bwithout|\bshouldn't|\bmust not|\bcannot)\s+(?:\w+\s+)?$"
)
_FORGET = re.compile(r"(?:not|n't|n’t|never)\s+forget\s+(?:to\s+)?$")
_CHINESE_REFUSED = re.compile(r"(?:不要|别|不用|不必|无需|禁止|切勿|勿|不能|不可|不许)[^，。；！？]{0,4}$")
_LEAD = re.compile(
    r"(?:^|[.,;:!?\n(—-]|\bplease|\band|\bthen|\balso|\bto|\bjust|\bnow|\bnext|\bfinally|\byou"
    r"|\bor|\bme|\bus|\bahead|\blet's|\bkindly|\bfirst|\bhave|[\u3400-\u9fff，。；：！？])\s*(?:\d+[.)]\s*)?$"
)
_NOUN_BEFORE = re.compile(
    r"\b(?:a|an|the|this|that|these|my|your|his|her|our|their|its|any|each|every|no|of|in|by|via|per)\s+$"
)
_TO_ME = re.compile(r"^\s+(?:me|us|myself)\b")
_CLAUSE_END = re.compile(r"[.!?;\n。！？；](?:\s|$)|,?\s+(?:and|then)\s+(?=please|then|also)")
_WORD = re.compile(r"[a-z]+(?:'[a-z]+)?")
_TURNED = tuple((re.compile(rf"(?:{verbs})"), re.compile(after), effects) for verbs, after, effects in TURNED)
_TURNED_LATER = tuple(
    (re.compile(rf"(?:{verbs})"), re.compile(after), effects) for verbs, after, effects in TURNED_LATER
)
_CHINESE = tuple((re.compile(form), effects) for form, effects in CHINESE)
_DELEGATING = re.compile(DELEGATING)
NEAR, FAR = 48, 400
"""How many characters before and after a verb say what it means."""

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
    """Addresses and accounts that the person wrote, and names from their own lists: whom they had in mind."""
    words = sources.words
    return tuple(dict.fromkeys((*sorted(words.mails), *words.accounts, *links_in(words.raw), *sources.names)))


def _english(text: str) -> Iterator[Effect]:
    for place in _WORD.finditer(text):
        verb = place[0]
        if not _may_order(verb):
            continue
        before, after = text[max(0, place.start() - NEAR) : place.start()], text[place.end() : place.end() + FAR]
        if not _is_order(verb, before):
            continue
        clause = _CLAUSE_END.split(after, maxsplit=1)[0]
        effects = PLAIN_VERBS.get(verb) or LED_VERBS.get(verb, ())
        turned = (*_turned(_TURNED, verb, clause), *_turned(_TURNED_LATER, verb, after))
        for effect in (*effects, *turned):
            if not (effect in _SPEAKING and _TO_ME.match(after)):
                yield effect


@lru_cache(maxsize=1_024)
def _may_order(verb: str) -> bool:
    turned = any(verbs.fullmatch(verb) for verbs, _, _ in (*_TURNED, *_TURNED_LATER))
    return verb in PLAIN_VERBS or verb in LED_VERBS or turned


def _turned(
    table: tuple[tuple[re.Pattern[str], re.Pattern[str], tuple[Effect, ...]], ...], verb: str, after: str
) -> Iterator[Effect]:
    for verbs, form, effects in table:
        if verbs.fullmatch(verb) and form.search(after):
            yield from effects


def _is_order(verb: str, before: str) -> bool:
    reminded = _FORGET.search(before) is not None
    if _NOUN_BEFORE.search(before) or (_REFUSED.search(before) and not reminded):
        return False
    return verb in PLAIN_VERBS or reminded or _LEAD.search(before) is not None


def _chinese(text: str) -> Iterator[Effect]:
    for form, effects in _CHINESE:
        if any(
            not _CHINESE_REFUSED.search(text[max(0, place.start() - NEAR) : place.start()])
            for place in form.finditer(text)
        ):
            yield from effects
