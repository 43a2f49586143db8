"""A conversation: the mailbox of one chat, which starts tasks and passes later words on to them."""

from datetime import datetime
from typing import Literal

from contracts.messages import Address, Message
from contracts.task import Limits
from contracts.values import Value

Mode = Literal["queue", "steer"]


class Delivered(Value):
    """One message for the mailbox."""

    message: Message
    address: Address
    limits: Limits = Limits()
    pushes: bool = True
    task_type: Literal["browser", "cli", "api", "composite"] = "composite"
    priority: int = 5


class Accepted(Value):
    """What became of a message."""

    disposition: Literal["started", "queued", "steered", "answered", "duplicate", "refused"]
    task_id: str | None = None
    ahead: int = 0
    """How many requests are before it, if it was queued."""


class TaskChanged(Value):
    """A task tells its conversation that it waits for words, goes on, or has ended."""

    task_id: str
    state: Literal["awaiting_user", "working", "closed"]
    question_id: str | None = None
    unheard: tuple[str, ...] = ()
    """Ids of messages that reached the task too late to be heard; they start a task of their own."""


class SetMode(Value):
    """Whether a message that comes while a task runs waits for its end (queue) or joins it (steer)."""

    mode: Mode


class DropWaiting(Value):
    """Forget the requests that have not started; the receipt's `ahead` says how many they were."""

    by: str = ""
    sent_until: datetime | None = None
    """Requests that were written after this stay."""


class ConversationState(Value):
    """All that crosses a continue-as-new."""

    mode: Mode = "queue"
    current_task_id: str | None = None
    question_id: str | None = None
    waiting: tuple[Delivered, ...] = ()
    passed_on: tuple[Delivered, ...] = ()
    """Messages that went to the running task; kept until it has ended, since it may not have heard them."""
    seen: tuple[tuple[str, str], ...] = ()
    """The last message ids, each with the task that it went to."""


class ConversationInput(Value):
    """What starts a conversation."""

    conversation_id: str
    state: ConversationState = ConversationState()
