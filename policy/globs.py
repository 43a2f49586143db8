"""Compare path patterns: `*`, `?` and `[…]` within a segment, `**` for any number of segments."""

from fnmatch import fnmatchcase
from functools import lru_cache

GLOB_CHARACTERS = frozenset("*?[")
_UNCERTAIN = frozenset("*?[]")


def is_glob(text: str) -> bool:
    return not GLOB_CHARACTERS.isdisjoint(text)


def quoted(text: str) -> str:
    """With wildcards that stand for themselves."""
    return "".join(f"[{character}]" if character in GLOB_CHARACTERS else character for character in text)


@lru_cache(maxsize=4_096)
def segments(path: str) -> tuple[str, ...]:
    return tuple(part for part in path.split("/") if part)


@lru_cache(maxsize=4_096)
def static_prefix(path: str) -> tuple[str, ...]:
    """The segments before the first one that holds a wildcard. A path is asked this once for each line of a policy."""
    found: list[str] = []
    for part in segments(path):
        if is_glob(part):
            break
        found.append(part)
    return tuple(found)


@lru_cache(maxsize=65_536)
def overlaps(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether some path may match both; never False when there is one."""
    if one and one[0] == "**":
        return overlaps(one[1:], other) or (bool(other) and overlaps(one, other[1:]))
    if other and other[0] == "**":
        return overlaps(other, one)
    if not one or not other:
        return one == other
    return segment_overlaps(one[0], other[0]) and overlaps(one[1:], other[1:])


def segment_overlaps(one: str, other: str) -> bool:
    """Whether one name may match both; a leading `*` or `?` does not match a leading dot, as in a shell."""
    if is_glob(one) and is_glob(other):
        hidden = (one[0] == ".") != (other[0] == ".") and (one[0] in "*?" or other[0] in "*?")
        return not hidden and _ends_agree(one, other)
    if is_glob(one):
        return fnmatchcase(other, one) and not (other.startswith(".") and one[0] in "*?")
    if is_glob(other):
        return segment_overlaps(other, one)
    return one == other


def _ends_agree(one: str, other: str) -> bool:
    """Whether neither the fixed beginnings nor the fixed ends of two patterns contradict each other."""
    return _beginnings_agree(one, other) and _beginnings_agree(one[::-1], other[::-1])


def _beginnings_agree(one: str, other: str) -> bool:
    for left, right in zip(one, other, strict=False):
        if left in _UNCERTAIN or right in _UNCERTAIN:
            return True
        if left != right:
            return False
    return True
