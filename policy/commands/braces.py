"""Brace expansion of literal words, as in `src/{a,b}` and `{1..3}`."""

import re

MAX_WORDS = 64
MAX_GROUPS = 12
_RANGE = re.compile(r"^(-?\d{1,6}|[A-Za-z])\.\.(-?\d{1,6}|[A-Za-z])(?:\.\.(-?\d{1,6}))?$")


class TooMany(Exception):
    """Raised when a brace expansion makes more words than are worth following."""


def has_braces(text: str) -> bool:
    """Whether bash would expand it; nothing is told of braces that merely look strange."""
    return "{" in text and "}" in text and ("," in text or ".." in text)


def expand_braces(text: str) -> list[str]:
    """Raises: TooMany."""
    if text.count("{") > MAX_GROUPS:
        raise TooMany(text)
    start, end, parts = _first_group(text)
    if not parts:
        return [text]
    made = [text[:start] + part + rest for part in parts for rest in expand_braces(text[end:])]
    if len(made) > MAX_WORDS:
        raise TooMany(text)
    words = [word for made_text in made for word in expand_braces(made_text)] if any(map(has_braces, parts)) else made
    if len(words) > MAX_WORDS:
        raise TooMany(text)
    return words


def _first_group(text: str) -> tuple[int, int, list[str]]:
    for start, character in enumerate(text):
        if character != "{":
            continue
        end = _closing(text, start)
        if end and (parts := _alternatives(text[start + 1 : end])):
            return start, end + 1, parts
    return 0, 0, []


def _closing(text: str, start: int) -> int:
    depth = 0
    for index in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[index], 0)
        if depth == 0:
            return index
    return 0


def _alternatives(inside: str) -> list[str]:
    if found := _RANGE.match(inside):
        return _range(*found.groups())
    parts, depth = [""], 0
    for character in inside:
        depth += {"{": 1, "}": -1}.get(character, 0)
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return parts if len(parts) > 1 else []


def _range(first: str, last: str, step: str | None) -> list[str]:
    if first.isalpha() != last.isalpha():
        return []
    low, high = (ord(first), ord(last)) if first.isalpha() else (int(first), int(last))
    stride = abs(int(step or 1)) or 1
    if abs(high - low) // stride >= MAX_WORDS:
        raise TooMany(f"{first}..{last}")
    numbers = range(low, high + 1, stride) if low <= high else range(low, high - 1, -stride)
    return [chr(number) if first.isalpha() else str(number) for number in numbers]
