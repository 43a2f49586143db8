"""How much a foreign text looks like one that wants to give orders. It adds to a risk and decides nothing.

Rules alone, in English and Chinese. A text that says nothing of the kind can still be hostile, and one that only speaks
of such attacks scores as they do: that is why nothing hangs on it.
"""

import base64
import binascii
import re
from collections.abc import Iterator

from policy.detector_signs import CHINESE, ENGLISH

READ_CHARACTERS = 262_144
"""Of a longer text the beginning and the end are read."""

_FLAGS = re.IGNORECASE | re.DOTALL


def _english(pieces: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(r"[^.\n]{0,40}?".join(rf"(?<!\w)(?:{piece})(?!\w)" for piece in pieces))


def _chinese(pieces: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(r"[^。\n]{0,12}?".join(f"(?:{piece})" for piece in pieces))


_ORDERS = (
    *((weight, _english(pieces)) for weight, pieces in ENGLISH),
    *((weight, _chinese(pieces)) for weight, pieces in CHINESE),
)

_ROLES = re.compile(
    r"<\|?(?:im_start|im_end|system|assistant|user|endoftext|eot_id|start_header_id)\|?>"
    r"|\[/?(?:INST|SYS(?:TEM)?)\]|<</?SYS>>|^\s{0,4}(?:#{1,4}\s*)?(?:system|assistant|developer|tool)\s*[:：]\s*\S"
    r"|</?(?:data|tool_result|function_results|information)\b[^>]{0,40}>",
    re.IGNORECASE | re.MULTILINE,
)

_HIDDEN = re.compile(
    r"(?:display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0|opacity\s*:\s*0(?![.\d]))[^<]{0,200}>[^<]{20,}"
    r"|<!--[^>]{0,400}\b(?:assistant|agent|instructions?|AI)\b[^>]{0,400}-->|<!--[^>]{0,200}(?:助手|指令|智能)[^>]{0,200}-->",
    _FLAGS,
)
_INVISIBLE = re.compile("[\u200b\u2060-\u2064\u202a-\u202e\u2066-\u2069\ufeff]")
_TAGS = re.compile("[\U000e0020-\U000e007e]+")
"""Letters that nobody sees and a model may read."""

_ENCODED = re.compile(r"(?<![A-Za-z0-9+/=_-])[A-Za-z0-9+/]{40,4096}={0,2}(?![A-Za-z0-9+/=])")
_WORDS = re.compile(r"[ -~\u4e00-\u9fff\s]+")

_ROLE_WEIGHT = 0.5
_HIDDEN_WEIGHT = 0.5
_INVISIBLE_WEIGHT = 0.4
_FEW_INVISIBLE = 8
"""Joiners and direction marks are ordinary in small numbers."""


def suspicion(text: str) -> float:
    """From 0 (nothing strange) to 1; every further sign counts for what is left."""
    text = text if len(text) <= READ_CHARACTERS else text[: READ_CHARACTERS // 2] + text[-READ_CHARACTERS // 2 :]
    innocent = 1.0
    for weight in _signs(text):
        innocent *= 1.0 - weight
    return round(1.0 - innocent, 3)


def _signs(text: str) -> Iterator[float]:
    seen = _INVISIBLE.sub("", text)
    yield from _orders(seen)
    if _ROLES.search(seen):
        yield _ROLE_WEIGHT
    if _HIDDEN.search(seen):
        yield _HIDDEN_WEIGHT
    if len(text) - len(seen) > _FEW_INVISIBLE or _splits_words(text):
        yield _INVISIBLE_WEIGHT
    for hidden in (*_decoded(text), *_untagged(text)):
        if any(True for _ in _orders(hidden)):
            yield _HIDDEN_WEIGHT
            yield from _orders(hidden)


def _orders(text: str) -> Iterator[float]:
    plain = text.lower()  # once, instead of with every pattern
    return (weight for weight, pattern in _ORDERS if pattern.search(plain))


def _splits_words(text: str) -> bool:
    """Characters without width in the middle of Latin words serve only to hide them from a search."""
    return len(re.findall("[A-Za-z][\u200b\u2060\ufeff]+[A-Za-z]", text)) > 2


def _decoded(text: str) -> Iterator[str]:
    for found in _ENCODED.findall(text)[:50]:
        try:
            plain = base64.b64decode(found + "=" * (-len(found) % 4), validate=True).decode()
        except (binascii.Error, UnicodeDecodeError):
            continue
        if _WORDS.fullmatch(plain):
            yield plain


def _untagged(text: str) -> Iterator[str]:
    for found in _TAGS.findall(text):
        yield "".join(chr(ord(letter) - 0xE0000) for letter in found)
