"""One clause of a plain request, in English or Chinese, as a wish. What does not fit a pattern whole is not guessed."""

import re

from activities.planners.outline import Wish
from activities.planners.phrases_en import ENGLISH
from activities.planners.phrases_zh import CHINESE

_PHRASES = tuple(
    (re.compile(re.sub(" (?![?])", r"\\s+", pattern).replace(" ?", r"\s*"), re.IGNORECASE), make)
    for pattern, make in (*ENGLISH, *CHINESE)
)
_OPENING = re.compile(
    r"(?:(?:please|kindly|now|first|also|just|hey|hi|hello|then|next|finally|can you|could you|would you|will you"
    r"|i want you to|i would like you to|i'd like you to)\b[\s,]*"
    r"|请你?|麻烦你?|帮我|帮忙|你?(?:能不能|可以|能)|先|再|接着"
    r"|给我(?!发|传))+\s*",
    re.IGNORECASE,
)
_CLOSING = re.compile(
    r"\s*(?:\b(?:please|for me|now|too|as well|thanks|thank you)|吧|吗|呢|好吗|谢谢|一下)+$", re.IGNORECASE
)
_FILLER = re.compile(r"(?:hi|hello|hey|thanks|thank you|please|ok|okay|你好|您好|谢谢|多谢|好的|拜托)?", re.IGNORECASE)


def wish_of(clause: str) -> Wish | None:
    """The wish, or None if the clause is something else. Code is named by its number, as in `run ⟦0⟧`."""
    for bare in dict.fromkeys((clause.strip(), polished(clause))):
        for pattern, make in _PHRASES:
            found = pattern.fullmatch(bare)
            if found:
                return make(found)
    return None


def polished(clause: str) -> str:
    """The clause without its politeness, and without marks at its ends."""
    before = ""
    while before != clause:
        before, clause = clause, _CLOSING.sub("", without_opening(clause)).strip(' \t:：-–—*•"“”()（）')
    return clause


def without_opening(text: str) -> str:
    """The text without the politeness that it begins with."""
    opening = _OPENING.match(text)
    return text[opening.end() :] if opening else text


def is_filler(clause: str) -> bool:
    """True for what asks for nothing, such as a greeting."""
    return _FILLER.fullmatch(polished(clause)) is not None
