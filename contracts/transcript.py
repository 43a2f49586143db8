"""The turns of a task, as the planner reads them. Stored as encrypted blobs, each naming the one before."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from contracts.blobs import BlobRef
from contracts.messages import Attachment
from contracts.tools import ToolCall
from contracts.values import Value


class UserTurn(Value):
    """The person's own words; the only turns that carry authority."""

    kind: Literal["user"] = "user"
    text: str = ""
    text_ref: BlobRef | None = None
    attachments: tuple[Attachment, ...] = ()
    message_id: str | None = None
    question_id: str | None = None
    """Set if this answers a question of the planner."""
    at: datetime


class PlannerTurn(Value):
    """What the planner decided at a step."""

    kind: Literal["planner"] = "planner"
    step: int
    text: str = ""
    calls: tuple[ToolCall, ...] = ()


class ToolTurn(Value):
    """What a call gave; the whole ToolResult lies in `result_ref`."""

    kind: Literal["tool"] = "tool"
    call_id: str
    tool: str
    ok: bool
    headline: str
    result_ref: BlobRef | None = None
    error: str | None = None


class NoteTurn(Value):
    """What the system did that the planner must know: a denial, a restored sandbox, a repeated failure."""

    kind: Literal["note"] = "note"
    code: str
    text: str


Turn = Annotated[UserTurn | PlannerTurn | ToolTurn | NoteTurn, Field(discriminator="kind")]


class TranscriptPage(Value):
    """One stored link of a transcript: some turns, and the page before."""

    previous: BlobRef | None
    turns: tuple[Turn, ...]
