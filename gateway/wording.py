"""Makes people's text safe to keep and clear in whose words it is."""

import re
import unicodedata
from pathlib import PurePosixPath

from contracts.language import language_of
from contracts.quoting import quote
from contracts.texts import gateway as texts
from contracts.texts.policy import REASONS
from contracts.texts.sentence import Sentence

NAME_CHARACTERS = 120
_LINE_END = re.compile("\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_DIRECTION = re.compile(r"[\u202a-\u202e\u2066-\u2069\u200e\u200f]")


def clean(text: str) -> str:
    """Without control characters and halves of characters, which no store takes; line ends as `\\n`."""
    whole = text.encode("utf-8", "replace").decode("utf-8")
    return _CONTROL.sub("\ufffd", _LINE_END.sub("\n", whole))


def file_name(name: str, fallback: str) -> str:
    """A plain name without folders, control or direction characters, that cannot pass for another kind of file."""
    flat = PurePosixPath(clean(name).replace("\\", "/")).name
    flat = _DIRECTION.sub("", unicodedata.normalize("NFC", flat)).replace("\n", " ").strip(". ")
    stem, dot, suffix = flat.rpartition(".")
    if len(flat) > NAME_CHARACTERS:
        flat = f"{stem[: NAME_CHARACTERS - len(suffix) - 1]}{dot}{suffix}"[:NAME_CHARACTERS]
    return flat or fallback


def forwarded(text: str, origin: str) -> str:
    """Marked as quoted: what is passed on is not an order of who passes it on."""
    head = texts.FORWARDED.say(language_of(text), origin=" ".join(clean(origin).split())[:NAME_CHARACTERS])
    return quote(text, head)


def sentence_for(rule: str) -> Sentence | None:
    """The sentence of a policy rule; without one, a reason shows the rule's id and its detail."""
    return REASONS.get(rule)
