"""What the server knows: chats, messages, files, updates that nobody has acknowledged, calls, and planned faults."""

import asyncio
import time
from dataclasses import dataclass, field
from typing import Any, Literal

FaultKind = Literal["drop", "hang", "reset", "429", "500"]
BOT_ID = 4_242
TOKEN = "4242:AAF0stand-in_token_of_the_strict_server"
MAX_DOWNLOAD_BYTES = 20 * 1024 * 1024


@dataclass(frozen=True)
class Call:
    """One call as it came in."""

    method: str
    values: dict[str, str]
    at: float
    """Seconds on the monotonic clock."""


@dataclass
class Fault:
    """A planned failure of the next `times` calls of a method.

    drop: do it, then close without an answer. hang: do it, then never answer. reset, 429, 500: do nothing.
    """

    method: str
    kind: FaultKind
    times: int = 1
    retry_after: int = 1
    contains: str = ""
    """Only calls with this text in one of their values."""


@dataclass
class State:
    """Everything that a restart of the real service would keep."""

    messages: dict[tuple[int, int], dict[str, Any]] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)
    file_sizes: dict[str, int] = field(default_factory=dict)
    updates: list[dict[str, Any]] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    blocked: set[int] = field(default_factory=set)
    """Chats whose person has blocked the bot."""
    commands: dict[str, list[dict[str, str]]] = field(default_factory=dict)
    """By language code; the empty one is the default."""
    answers: dict[str, str] = field(default_factory=dict)
    """Text shown for each pressed button, by callback query id."""
    webhook_url: str = ""
    webhook_secret: str = ""
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)
    poller: int = 0
    """Counts getUpdates calls: the newest one ends the others."""
    next_message_id: int = 100
    next_update_id: int = 700_000
    next_file: int = 1

    def new_message_id(self) -> int:
        self.next_message_id += 1
        return self.next_message_id

    async def add_update(self, kind: str, body: dict[str, Any]) -> dict[str, Any]:
        self.next_update_id += 1
        update = {"update_id": self.next_update_id, kind: body}
        self.updates.append(update)
        await self.announce()
        return update

    async def announce(self) -> None:
        async with self.changed:
            self.changed.notify_all()

    def keep_file(self, content: bytes, size: int | None = None) -> str:
        """Stores a file under a new id; `size` announces another size than the content has."""
        file_id = f"file-{self.next_file}"
        self.next_file += 1
        self.files[file_id] = content
        self.file_sizes[file_id] = len(content) if size is None else size
        return file_id

    def take_fault(self, method: str, values: dict[str, str]) -> Fault | None:
        for fault in self.faults:
            matches = not fault.contains or any(fault.contains in value for value in values.values())
            if fault.method.lower() == method.lower() and fault.times > 0 and matches:
                fault.times -= 1
                return fault
        return None


def now() -> int:
    """Seconds since the epoch, as the Bot API dates things."""
    return int(time.time())


def chat_of(chat_id: int) -> dict[str, Any]:
    return {"id": chat_id, "type": "private" if chat_id > 0 else "group", "title": f"chat {chat_id}"}


def bot_user() -> dict[str, Any]:
    return {"id": BOT_ID, "is_bot": True, "first_name": "Agent", "username": "asos_test_bot"}
