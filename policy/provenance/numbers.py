"""Numbers in what a person wrote: grouped, with a comma or a point, full-width, in Chinese or English words."""

import math
import re

_NUMBER = re.compile(
    r"(?<![A-Za-z0-9_.,:/@%#-])\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![A-Za-z0-9_:/@-]|[.,]\d)"
    r"|(?<![A-Za-z0-9_.,:/@%#-])\d{1,3}(?:\.\d{3})+,\d+(?![A-Za-z0-9_:/@-]|[.,]\d)"
    r"|(?<![A-Za-z0-9_.,:/@%#-])\d+(?:[.,]\d+)?(?![A-Za-z0-9_:/@-]|[.,]\d)"
)
_SIGNED = re.compile(
    r"(?:[$€£¥]|\b(?:usd|eur|gbp|chf|cny|rmb|jpy)\s?)(?=\d)|(?<=\d)\s?(?:usd|eur|gbp|chf|cny|rmb|jpy)\b"
)

_DIGITS = {digit: value for value, digit in enumerate("零一二三四五六七八九")} | {"两": 2, "〇": 0}
_PLACES = {"十": 10, "百": 100, "千": 1_000}
_GROUPS = {"万": 10_000, "亿": 100_000_000}
_CHINESE = re.compile("[零〇一二两三四五六七八九十百千万亿]+")
_MIXED = re.compile(r"(?<![\d.])(\d+(?:\.\d+)?)([百千万亿]+)")

_BELOW_TWENTY = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_ENGLISH = {word: value for value, word in enumerate(_BELOW_TWENTY.split())}
_ENGLISH |= {word: value for value, word in zip(range(20, 100, 10), _TENS.split(), strict=True)}
_SCALES = {"hundred": 100, "thousand": 1_000, "million": 1_000_000}
_ENGLISH_RUN = re.compile(rf"\b(?:{'|'.join((*_ENGLISH, *_SCALES))})(?:[\s-]+(?:{'|'.join((*_ENGLISH, *_SCALES))}))*\b")


def numbers_in(words: str) -> frozenset[float]:
    """Every number that stands for itself in folded words; parts of dates, times, ids and percentages do not."""
    plain = _SIGNED.sub(" ", words)
    found = {
        value for place in _NUMBER.finditer(plain) if not _is_share(plain, place.end()) for value in _read(place[0])
    }
    found.update(float(place[1]) * _chinese(f"一{place[2]}") for place in _MIXED.finditer(plain))
    found.update(float(_chinese(place[0])) for place in _CHINESE.finditer(words))
    found.update(float(_english(re.split(r"[\s-]+", place[0]))) for place in _ENGLISH_RUN.finditer(words))
    return frozenset(found)


def number_of(text: str) -> float | None:
    """The number that an argument is, however it is spelled; None if it is none, or more than one."""
    found = set(_read(text.strip().lower())) if _NUMBER.fullmatch(text.strip()) else set()
    if not found:
        try:
            value = float(text)
        except ValueError:
            return None
        found = {value} if math.isfinite(value) else set()
    return found.pop() if len(found) == 1 else None


def _is_share(words: str, end: int) -> bool:
    return words[end : end + 2].lstrip()[:1] == "%"


def _read(text: str) -> tuple[float, ...]:
    """`1,200` is grouped and `1.200` is not: what could be read a thousand times larger is taken as the smaller."""
    if re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", text):
        return (float(text.replace(",", "")),)
    if re.fullmatch(r"\d{1,3}(?:\.\d{3})+,\d+", text):
        return (float(text.replace(".", "").replace(",", ".")),)
    return (float(text.replace(",", ".")),)


def _chinese(text: str) -> int:
    total = group = digit = 0
    for character in text:
        if character in _DIGITS:
            digit = _DIGITS[character]
        elif character in _PLACES:
            group += (digit or 1) * _PLACES[character]
            digit = 0
        else:
            total = (total + group + digit) * _GROUPS[character]
            group = digit = 0
    return total + group + digit


def _english(words: list[str]) -> int:
    total = group = 0
    for word in words:
        if word in _ENGLISH:
            group += _ENGLISH[word]
        elif word == "hundred":
            group = (group or 1) * 100
        else:
            total += (group or 1) * _SCALES[word]
            group = 0
    return total + group
