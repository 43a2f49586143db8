"""Texts as a person must see them before a yes: nothing invisible, nothing that moves other text about."""

import hashlib
import re
import unicodedata
from collections.abc import Mapping

from contracts.tools import HEADLINE_CHARACTERS

PREVIEW_CHARACTERS = 1_500
_HEAD, _TAIL = 950, 350

# The marks that set an escape apart are escaped themselves, so that no text can imitate an escape.
_MARKS = "⟦⟧"
# Letters and symbols by category, yet blank on every screen.
_BLANK = frozenset("\u115f\u1160\u2800\u3164\uffa0\ufffc")
# Far more than any honest text needs: such runs push what follows out of sight.
_LONG_RUN = re.compile(r" {40,}|\n{6,}")


def preview(fields: Mapping[str, object]) -> str:
    """Each argument under its name, escaped; beyond PREVIEW_CHARACTERS head, tail and the digest of the whole."""
    return bounded("\n".join(_field(name, value) for name, value in fields.items() if value is not None))


def bounded(text: str) -> str:
    """A text that is already escaped, cut in its middle if it is too long for a card."""
    if len(text) <= PREVIEW_CHARACTERS:
        return text
    digest = hashlib.sha256(text.encode()).hexdigest()
    note = f"\n⟦{len(text) - _HEAD - _TAIL} characters left out; SHA-256 of the whole text {digest}⟧\n"
    return text[:_HEAD] + note + text[-_TAIL:]


def escaped(text: str) -> str:
    """Line breaks stay; every other character that cannot be seen for what it is becomes its code."""
    shown = "".join(_visible(character) for character in text)
    return _LONG_RUN.sub(_counted, shown)


def one_line(text: str, limit: int = HEADLINE_CHARACTERS) -> str:
    """The text on one line, escaped and cut at its end."""
    line = escaped(" ".join(text.split()))
    return line if len(line) <= limit else line[: limit - 1] + "…"


def _field(name: str, value: object) -> str:
    text = escaped(str(value))
    return f"{name}:\n{text}" if "\n" in text else f"{name}: {text}"


def _visible(character: str) -> str:
    if character in "\n ":
        return character
    hidden = character in _MARKS or character in _BLANK or unicodedata.category(character)[0] in "CZ"
    return f"⟦U+{ord(character):04X}⟧" if hidden else character


def _counted(run: re.Match[str]) -> str:
    what = "spaces" if run.group().startswith(" ") else "line breaks"
    return f"⟦{len(run.group())} {what}⟧"
