"""Take secrets out of what a tool gave, before anything of it is stored or shown."""

import asyncio
from collections.abc import Callable

from pydantic import JsonValue

from contracts.blobs import BlobRef, Blobs
from contracts.messages import Attachment
from contracts.tools import HEADLINE_CHARACTERS, ToolResult
from contracts.values import JsonObject

Redact = Callable[[str], str]
"""Gives the text with every secret replaced by a mark; text without secrets comes back as it is."""


def redacted(result: ToolResult, redact: Redact) -> ToolResult:
    """The result without secrets, wherever a text of the tool's own may be."""
    return result.model_copy(
        update={
            "headline": redact(result.headline)[:HEADLINE_CHARACTERS],
            "text": redact(result.text),
            "data": _object(result.data, redact),
            "files": tuple(_file(file, redact) for file in result.files),
            "send": tuple(_file(file, redact) for file in result.send),
        }
    )


class RedactingBlobs:
    """A blob store that takes secrets out of every text it is given; other bytes pass as they are."""

    def __init__(self, blobs: Blobs, redact: Redact) -> None:
        self._blobs = blobs
        self._redact = redact

    async def put(self, content: bytes) -> BlobRef:
        return await self._blobs.put(await asyncio.to_thread(self._without_secrets, content))

    async def get(self, ref: BlobRef) -> bytes:
        return await self._blobs.get(ref)

    def _without_secrets(self, content: bytes) -> bytes:
        # A secret may stand between bytes that are not UTF-8, so they are carried through instead of given up on.
        text = content.decode("utf-8", "surrogateescape")
        clean = self._redact(text)
        return content if clean == text else clean.encode("utf-8", "surrogateescape")


def _object(data: JsonObject, redact: Redact) -> JsonObject:
    return {redact(name): _value(value, redact) for name, value in data.items()}


def _value(value: JsonValue, redact: Redact) -> JsonValue:
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, list):
        return [_value(item, redact) for item in value]
    return _object(value, redact) if isinstance(value, dict) else value


def _file(file: Attachment, redact: Redact) -> Attachment:
    return file.model_copy(update={"name": redact(file.name), "caption": redact(file.caption)})
