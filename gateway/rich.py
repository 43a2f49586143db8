"""Text with marks in no platform's notation: channels render it, and it can be cut without breaking a mark."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

Mark = Literal["bold", "italic", "strike", "code", "pre", "quote", "link"]


@dataclass(frozen=True)
class Span:
    """A run of text with the same marks."""

    text: str
    marks: tuple[Mark, ...] = ()
    """Outermost first."""
    href: str = ""
    language: str = ""
    """Of a `pre` span."""


Spans = tuple[Span, ...]


def plain(text: str) -> Span:
    return Span(text)


def bold(text: str) -> Span:
    return Span(text, ("bold",))


def code(text: str) -> Span:
    return Span(text, ("code",))


def pre(text: str, language: str = "") -> Span:
    return Span(text, ("pre",), language=language)


def text_of(spans: Iterable[Span]) -> str:
    return "".join(span.text for span in spans)


def length(text: str) -> int:
    """In UTF-16 code units, the strictest way that platforms count."""
    return len(text) + sum(character > "\uffff" for character in text)


def cut(spans: Sequence[Span], limit: int) -> list[Spans]:
    """Parts of at most `limit` units in order, cut at a paragraph, line or blank where there is one near the end."""
    parts: list[Spans] = []
    rest = tuple(spans)
    while rest:
        part, rest = _first(rest, limit)
        if text_of(part).strip():
            parts.append(part)
    return parts


def clip(text: str, limit: int) -> str:
    """At most `limit` characters, with an ellipsis where something is missing."""
    return text if len(text) <= limit else text[: max(0, limit - 1)] + "…"


def _first(spans: Spans, limit: int) -> tuple[Spans, Spans]:
    whole = text_of(spans)
    if length(whole) <= limit:
        return spans, ()
    return _split(spans, _boundary(whole, _fitting(whole, limit)))


def _fitting(text: str, limit: int) -> int:
    """How many characters of `text` fit into `limit` units."""
    used = 0
    for index, character in enumerate(text):
        used += 2 if character > "\uffff" else 1
        if used > limit:
            return index
    return len(text)


def _boundary(text: str, end: int) -> int:
    """The best place to cut at or before `end`, in the last half of what fits."""
    for mark in ("\n\n", "\n", " "):
        found = text.rfind(mark, end // 2, end)
        if found > 0:
            return found + len(mark)
    return max(1, end)


def _split(spans: Spans, at: int) -> tuple[Spans, Spans]:
    head: list[Span] = []
    for index, span in enumerate(spans):
        if at <= len(span.text):
            head.append(replace(span, text=span.text[:at]))
            tail = replace(span, text=span.text[at:])
            return tuple(head), (tail, *spans[index + 1 :]) if tail.text else spans[index + 1 :]
        head.append(span)
        at -= len(span.text)
    return tuple(head), ()
