"""What a recording is made of: a task's audit lines with their words opened, and what its calls gave."""

from dataclasses import dataclass, field
from datetime import datetime

from contracts.tools import ToolResult
from contracts.values import JsonObject


@dataclass(frozen=True)
class Line:
    """One audit line; `words` are None where the keyring is not at hand."""

    sequence: int
    at: datetime
    kind: str
    actor: str
    call_id: str | None
    data: JsonObject
    words: JsonObject | None
    policy_version: str = ""


@dataclass(frozen=True)
class Picture:
    """A screenshot that a call kept."""

    name: str
    media_type: str
    content: bytes


@dataclass(frozen=True)
class Given:
    """What one call gave."""

    result: ToolResult
    pictures: tuple[Picture, ...] = ()
    left_out: int = 0
    """Pictures that were too large, or lost."""


@dataclass(frozen=True)
class Recording:
    """All of it, in the order of time."""

    task_id: str
    goal: str
    lines: tuple[Line, ...]
    given: dict[str, Given] = field(default_factory=dict)
    """By call id."""
