"""What a task shows to its person, before a channel gives it its form."""

from typing import Literal

from contracts.messages import Address
from contracts.task import TaskStatus
from contracts.values import Value


class DeliverRequest(Value):
    """Bring the task's one message in line with `status`; a sequence older than the last one changes nothing."""

    address: Address
    status: TaskStatus
    final: bool = False


class DeliverOutcome(Value):
    """Whether the person has it; `refused` says why the platform will never take it."""

    delivered: bool
    message_id: str | None = None
    refused: str | None = None


class Notice(Value):
    """A message outside any task, such as a queue position or a refused file."""

    address: Address
    text: str
    key: str
    """The same key is sent once."""
    kind: Literal["info", "error"] = "info"
