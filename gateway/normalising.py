"""Turns what a channel received into the one shape of a message, with its files stored."""

import logging
from typing import Literal

from contracts.blobs import Blobs
from contracts.language import language_of
from contracts.messages import INLINE_TEXT_BYTES, MAX_TEXT_BYTES, Attachment, Content, Message
from contracts.texts import gateway as texts
from gateway.channel import FileTooLarge, Incoming, RemoteFile
from gateway.pairing import Person
from gateway.wording import clean, file_name, forwarded

MEGABYTE = 1_048_576
EXTENSIONS = {"image/jpeg": ".jpg", "image/png": ".png", "audio/ogg": ".ogg", "video/mp4": ".mp4"}

_log = logging.getLogger(__name__)


class Unacceptable(Exception):
    """Raised when a message can never be taken; the text is the sentence for its sender."""


async def normalise(incoming: Incoming, person: Person, blobs: Blobs, max_fetch_bytes: int) -> Message:
    """Raises: Unacceptable, ChannelUnreachable."""
    text = clean(incoming.text)
    if incoming.forwarded_from is not None and text.strip():
        text = forwarded(text, incoming.forwarded_from)
    size = len(text.encode())
    if size > MAX_TEXT_BYTES:
        limit = MAX_TEXT_BYTES // 1024
        raise Unacceptable(texts.TEXT_TOO_LONG.say(incoming.language, size=size // 1024, limit=limit))
    if not text.strip() and not incoming.files:
        raise Unacceptable(texts.EMPTY.say(incoming.language))
    attachments = tuple([await _store(file, incoming, blobs, max_fetch_bytes) for file in incoming.files])
    long = size > INLINE_TEXT_BYTES
    return Message(
        message_id=incoming.key,
        platform=incoming.channel,
        channel=incoming.chat,
        sender=incoming.sender,
        content=Content(
            type=_kind(incoming),
            text="" if long else text,
            text_ref=await blobs.put(text.encode()) if long else None,
            attachments=attachments,
        ),
        mentions=incoming.mentions,
        timestamp=incoming.at,
        reply_to=f"{incoming.chat.id}:{incoming.reply_to}" if incoming.reply_to else None,
        language=language_of(text) if text.strip() else incoming.language,
        role=person.role,
    )


async def _store(file: RemoteFile, incoming: Incoming, blobs: Blobs, max_fetch_bytes: int) -> Attachment:
    name = file_name(file.name, f"{file.kind}{EXTENSIONS.get(file.media_type, '')}")
    limit = max_fetch_bytes // MEGABYTE
    if file.size is not None and file.size > max_fetch_bytes:
        megabytes = f"{file.size / MEGABYTE:.0f}"
        raise Unacceptable(texts.FILE_TOO_LARGE.say(incoming.language, name=name, size=megabytes, limit=limit))
    try:
        content = await file.fetch()
    except FileTooLarge:
        raise Unacceptable(texts.FILE_UNKNOWN_SIZE.say(incoming.language, name=name, limit=limit)) from None
    try:
        ref = await blobs.put(content)
    except OSError as error:
        _log.error("cannot store a file of message %s: %s", incoming.key, error)
        reason = error.strerror or type(error).__name__
        raise Unacceptable(texts.FILE_NOT_STORED.say(incoming.language, name=name, reason=reason)) from error
    return Attachment(name=name, media_type=file.media_type, size=len(content), blob=ref)


def _kind(incoming: Incoming) -> Literal["text", "image", "file", "voice"]:
    return incoming.files[0].kind if incoming.files else "text"
