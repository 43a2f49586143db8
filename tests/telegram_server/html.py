"""Telegram's HTML, read as strictly as the real server reads it: text and entities, or a reasoned refusal."""

import html
import re
from typing import Any

from tests.telegram_server.refusal import Refusal

_TAGS = {
    "b": "bold",
    "strong": "bold",
    "i": "italic",
    "em": "italic",
    "u": "underline",
    "ins": "underline",
    "s": "strikethrough",
    "strike": "strikethrough",
    "del": "strikethrough",
    "code": "code",
    "pre": "pre",
    "a": "text_link",
    "blockquote": "blockquote",
    "tg-spoiler": "spoiler",
}
_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9-]*)((?:\s+[a-zA-Z-]+(?:=\"[^\"<]*\")?)*)\s*>")
_ENTITY = re.compile(r"&(?:lt|gt|amp|quot|#\d+|#x[0-9a-fA-F]+);")


def utf16(text: str) -> int:
    """Length as Telegram counts it."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def parse(source: str) -> tuple[str, list[dict[str, Any]]]:
    """Raises: Refusal."""
    text = ""
    entities: list[dict[str, Any]] = []
    open_tags: list[tuple[str, int, dict[str, Any]]] = []
    at = 0
    while at < len(source):
        if source[at] == "<":
            found = _TAG.match(source, at)
            if found is None or found[2].lower() not in _TAGS:
                raise _cannot(source, at, f'Unsupported start tag "{source[at + 1 : at + 9]}"')
            at = found.end()
            _tag(source, found, text, open_tags, entities)
        elif entity := _ENTITY.match(source, at):
            text += html.unescape(entity[0])
            at = entity.end()
        else:
            text += source[at]
            at += 1
    if open_tags:
        raise _cannot(source, len(source), f'Can\'t find end tag corresponding to start tag "{open_tags[-1][0]}"')
    return text, entities


def _tag(
    source: str,
    found: re.Match[str],
    text: str,
    open_tags: list[tuple[str, int, dict[str, Any]]],
    entities: list[dict[str, Any]],
) -> None:
    name = found[2].lower()
    if not found[1]:
        link = re.search(r'href="([^"]*)"', found[3])
        extra = {"url": html.unescape(link[1])} if name == "a" and link else {}
        open_tags.append((name, utf16(text), extra))
        return
    if not open_tags or open_tags[-1][0] != name:
        raise _cannot(source, found.start(), f'Unmatched end tag "{name}"')
    _, start, extra = open_tags.pop()
    length = utf16(text) - start
    if length:
        entities.append({"type": _TAGS[name], "offset": start, "length": length, **extra})


def _cannot(source: str, at: int, why: str) -> Refusal:
    return Refusal(400, f"Bad Request: can't parse entities: {why} at byte offset {len(source[:at].encode())}")
