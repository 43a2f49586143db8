"""What a channel is: a way in for people's words and a way out for pages, and what it can do of that."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from typing import Literal, Protocol

from contracts.language import Language
from contracts.messages import Address, Chat, Sender
from gateway.rich import Spans


class ChatGone(Exception):
    """Raised when the platform will never take a message for this chat: blocked, deleted, or no longer allowed."""


class MessageGone(Exception):
    """Raised when the message to change no longer exists."""


class ChannelBusy(Exception):
    """Raised when the platform asks to wait."""

    def __init__(self, retry_after_seconds: float) -> None:
        super().__init__(f"the platform asks to wait {retry_after_seconds:g} s")
        self.retry_after_seconds = retry_after_seconds


class ChannelUnreachable(Exception):
    """Raised when the platform did not answer; `maybe_done` if it may have acted all the same."""

    def __init__(self, reason: str, *, maybe_done: bool) -> None:
        super().__init__(reason)
        self.maybe_done = maybe_done


class PageRefused(Exception):
    """Raised when the platform refuses this content for ever; the text is its reason."""


class FileTooLarge(Exception):
    """Raised when a file is larger than the platform lets the bot fetch."""


@dataclass(frozen=True)
class Capabilities:
    """What a channel can do; whoever makes pages adapts to it."""

    edit: bool
    buttons: bool
    files: bool
    pushes: bool
    """False for a channel whose person asks for the state itself."""
    max_text: int
    """Longest text of one message, in UTF-16 code units after formatting."""
    max_file_bytes: int = 0
    max_fetch_bytes: int = 0


@dataclass(frozen=True)
class Button:
    """A button under a page; `data` comes back when it is pressed (at most 64 bytes)."""

    label: str
    data: str


@dataclass(frozen=True)
class Page:
    """One message as it shall look."""

    spans: Spans
    buttons: tuple[tuple[Button, ...], ...] = ()

    def digest(self) -> str:
        return sha256(repr((self.spans, self.buttons)).encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True)
class FilePage:
    """A message that is a file."""

    name: str
    media_type: str
    content: bytes = field(repr=False)
    caption: str = ""

    def digest(self) -> str:
        return sha256(self.content + repr((self.name, self.media_type, self.caption)).encode()).hexdigest()


@dataclass(frozen=True)
class RemoteFile:
    """A file that somebody sent and nobody has fetched yet."""

    name: str
    media_type: str
    kind: Literal["image", "file", "voice"]
    size: int | None
    """In bytes, as the platform announces it."""
    fetch: Callable[[], Awaitable[bytes]]
    """Raises: FileTooLarge, ChannelUnreachable."""


@dataclass(frozen=True)
class Incoming:
    """What somebody said, before anyone asked whether they may."""

    channel: str
    chat: Chat
    sender: Sender
    message_id: str
    """The platform's id, unique in its chat."""
    text: str
    at: datetime
    files: tuple[RemoteFile, ...] = ()
    forwarded_from: str | None = None
    """Who wrote it, if the sender only passes it on."""
    edited: str | None = None
    """Names the version, if it replaces an earlier one."""
    reply_to: str | None = None
    mentions: tuple[str, ...] = ()
    addressed: bool = True
    """False for group talk that is not meant for the bot."""
    thread_id: str | None = None
    language: Language = "en"
    """In which the person's platform speaks to them, or in which they write."""

    @property
    def key(self) -> str:
        """The same for every delivery of the same message: `<chat>:<message_id>`."""
        base = f"{self.chat.id}:{self.message_id}"
        return base if self.edited is None else f"{base}:{self.edited}"

    @property
    def address(self) -> Address:
        return Address(channel=self.channel, chat_id=self.chat.id, reply_to=self.message_id, thread_id=self.thread_id)


@dataclass(frozen=True)
class Pressed:
    """A button that somebody pressed."""

    channel: str
    chat: Chat
    sender: Sender
    message_id: str
    press_id: str
    data: str
    language: Language = "en"


class Inbox(Protocol):
    """Where a channel hands on what comes in; returning means that it is safe."""

    async def receive(self, incoming: Incoming) -> None:
        """Raises: DeskUnreachable, ChannelUnreachable: keep it and try again."""
        ...

    async def press(self, pressed: Pressed) -> str:
        """Gives the short text to show at the button. Raises: DeskUnreachable."""
        ...

    async def apologise(self, incoming: Incoming) -> None:
        """To be called for what can never be received. Raises: ChannelUnreachable, ChannelBusy."""
        ...


class Channel(Protocol):
    """The way out. One call is one call to the platform; nothing is tried twice here."""

    @property
    def name(self) -> str: ...

    @property
    def capabilities(self) -> Capabilities: ...

    async def send(self, address: Address, page: Page) -> str:
        """Gives the new message's id. Raises: ChatGone, ChannelBusy, ChannelUnreachable, PageRefused."""
        ...

    async def edit(self, address: Address, message_id: str, page: Page) -> None:
        """Raises: ChatGone, MessageGone, ChannelBusy, ChannelUnreachable, PageRefused."""
        ...

    async def show_file(self, address: Address, message_id: str, file: FilePage) -> None:
        """Turns a message into the file. Raises: as `edit`."""
        ...


@dataclass(frozen=True)
class Liveness:
    """Whether a channel works, and when that was last seen."""

    connected: bool
    checked_at: datetime | None
    detail: str = ""
