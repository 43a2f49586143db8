"""What a person says and what comes back, in one shape for every chat platform."""

from datetime import datetime
from typing import Literal

from pydantic import Field

from contracts.blobs import BlobRef
from contracts.values import JsonObject, Value

INLINE_TEXT_BYTES = 8_192
"""Longer texts travel as a blob: history keeps every payload for ever."""

MAX_TEXT_BYTES = 262_144
"""Longer texts are refused with the advice to send a file."""


class Attachment(Value):
    """A file somebody sent or a tool kept; `blob` is None while it is only announced."""

    name: str
    media_type: str = "application/octet-stream"
    size: int = Field(ge=0)
    blob: BlobRef | None = None
    caption: str = ""


class Chat(Value):
    """Where a conversation takes place."""

    type: Literal["dm", "group", "channel"]
    id: str


class Sender(Value):
    """Who speaks: the platform's stable id, and the name that it shows."""

    id: str
    name: str = ""


class Content(Value):
    """The body: `text`, or `text_ref` where it is longer than INLINE_TEXT_BYTES."""

    type: Literal["text", "image", "file", "voice"] = "text"
    text: str = ""
    text_ref: BlobRef | None = None
    attachments: tuple[Attachment, ...] = ()


class Message(Value):
    """One message in, whatever the platform."""

    message_id: str
    platform: str
    channel: Chat
    sender: Sender
    content: Content
    mentions: tuple[str, ...] = ()
    timestamp: datetime
    reply_to: str | None = None
    language: Literal["en", "zh"] = "en"
    role: str = "owner"
    """The policy role that the gateway gave to the sender."""
    grants: tuple["HostGrant", ...] = ()
    """Hosts the owner opened for this one request; only a channel that proves ownership may set them."""


class HostGrant(Value):
    """One host that a task may reach; with `address`, the name is pinned to that `ip:port` and not resolved."""

    host: str
    port: int = Field(default=443, ge=1, le=65535)
    address: str | None = None
    methods: tuple[str, ...] = ()
    """The only ones it opens the host for; empty for any. Of encrypted traffic that is not inspected only `CONNECT` is
    seen."""


class Answer(Value):
    """One message out, before a channel gives it its form."""

    action: Literal["reply", "defer", "ask", "error"]
    content: str
    rich_content: "RichContent | None" = None
    requires_followup: bool = False


class RichContent(Value):
    """What a channel may show beside the text, as far as it can."""

    type: Literal["card", "carousel", "image"]
    data: JsonObject = Field(default_factory=dict)


class Address(Value):
    """Where a task's message goes: a chat of a channel, in answer to one message."""

    channel: str
    chat_id: str
    reply_to: str | None = None
    thread_id: str | None = None


Message.model_rebuild()
Answer.model_rebuild()
