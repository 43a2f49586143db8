"""Bound what a tool shows: head and tail stay, the whole is kept as a file, and nothing can steer a terminal."""

import re
from dataclasses import dataclass

from contracts.blobs import Blobs
from contracts.language import Language
from contracts.messages import Attachment
from contracts.sandbox import Captured, FileRefused, Files
from contracts.texts import tools as texts

KEPT_BYTES = 48 * 1024 * 1024
"""The most that is kept of one output: what the chat platforms take as a file."""

_NOTE_BYTES = 400
_HEAD_SHARE = 0.65

# Terminated sequences only: an unterminated one must not swallow, and so hide, what comes after it.
_ESCAPES = re.compile(
    r"\x1b\][^\x07\x1b]{0,4096}(?:\x07|\x1b\\)"
    r"|\x1b[PX^_][^\x1b]{0,4096}\x1b\\"
    r"|(?:\x1b\[|\x9b)[0-?]{0,64}[ -/]{0,8}[@-~]"
    r"|\x1b[ -/]{0,8}[0-~]"
)
_LINE_ENDS = re.compile("\r\n|\r|\u2028|\u2029|\x85")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


@dataclass(frozen=True)
class Shown:
    """What the planner reads, and the file that holds the whole where this is not all."""

    text: str
    file: Attachment | None = None


def plain(content: bytes) -> str:
    """Readable text of any bytes: UTF-8 with its errors replaced, without escape sequences and control characters."""
    return cleaned(content.decode("utf-8", "replace"))


def cleaned(text: str) -> str:
    """The text without what would steer a terminal; a lone carriage return hides nothing, it breaks the line."""
    return _CONTROLS.sub("", _LINE_ENDS.sub("\n", _ESCAPES.sub("", text)))


async def show_stream(
    captured: Captured, name: str, room: int, *, files: Files, blobs: Blobs, language: Language
) -> Shown:
    """One output stream of a command within `room` bytes."""
    if captured.path is None:
        return await show(captured.head + captured.tail, name, room, blobs=blobs, language=language)
    file = await _kept_whole(captured, name, files, blobs)
    note = _note(captured.total_bytes, file, language)
    return Shown(_joined(plain(captured.head), plain(captured.tail), note, room), file)


async def show(content: bytes, name: str, room: int, *, blobs: Blobs, language: Language) -> Shown:
    """A whole text within `room` bytes."""
    text = plain(content)
    if _size(text) <= room:
        return Shown(text)
    file = await keep(content, name, "text/plain", blobs) if len(content) <= KEPT_BYTES else None
    return Shown(_joined(text, text, _note(len(content), file, language), room), file)


def shorten(text: str, room: int, language: Language) -> str:
    """Head and tail of a text within `room` bytes, where the whole is kept elsewhere or not at all."""
    return text if _size(text) <= room else _joined(text, text, _note(_size(text), None, language), room)


async def whole(captured: Captured, files: Files) -> bytes:
    """All that a stream gave. Raises: FileRefused if it is longer than KEPT_BYTES or no longer there."""
    if captured.path is None:
        return captured.head + captured.tail
    return await files.read(captured.path, max_bytes=KEPT_BYTES)


async def keep(content: bytes, name: str, media_type: str, blobs: Blobs) -> Attachment:
    """Store bytes as a file of the task."""
    blob = await blobs.put(content)
    return Attachment(name=name, media_type=media_type, size=blob.size, blob=blob)


async def _kept_whole(captured: Captured, name: str, files: Files, blobs: Blobs) -> Attachment | None:
    try:
        return await keep(await whole(captured, files), name, "text/plain", blobs)
    except FileRefused:
        return None  # it is too long, or the command removed its own record: head and tail are still true


def _note(total_bytes: int, file: Attachment | None, language: Language) -> tuple[int, str]:
    where = texts.WHOLE_IS_KEPT.say(language, name=file.name) if file else texts.WHOLE_IS_NOT_KEPT.say(language)
    return total_bytes, texts.LEFT_OUT.say(language, bytes="{bytes}", where=where)


def _joined(head: str, tail: str, note: tuple[int, str], room: int) -> str:
    total, sentence = note
    space = max(room - _NOTE_BYTES, 2)
    first = _first(head, int(space * _HEAD_SHARE))
    last = _last(tail, space - _size(first))
    left_out = max(total - _size(first) - _size(last), 0)
    return "\n".join((first, sentence.replace("{bytes}", f"{left_out:,}"), last))


def _first(text: str, room: int) -> str:
    kept = text.encode()[:room].decode("utf-8", "ignore")
    line_end = kept.rfind("\n")
    return kept[:line_end] if line_end > len(kept) // 2 else kept


def _last(text: str, room: int) -> str:
    kept = text.encode()[-room:].decode("utf-8", "ignore")
    line_end = kept.find("\n")
    return kept[line_end + 1 :] if 0 <= line_end < len(kept) // 2 else kept


def _size(text: str) -> int:
    return len(text.encode())
