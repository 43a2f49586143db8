"""What the planner is given and what it decides: reply, call tools, or ask the person."""

from typing import Annotated, Literal

from pydantic import Field

from contracts.blobs import BlobRef
from contracts.language import Language
from contracts.tools import ToolCall
from contracts.transcript import Turn
from contracts.usage import Exceeded
from contracts.values import Value
from contracts.verdicts import Actor


class Usage(Value):
    """What thinking has cost so far."""

    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0
    calls: int = 0

    def plus(self, other: "Usage") -> "Usage":
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cost_usd=self.cost_usd + other.cost_usd,
            calls=self.calls + other.calls,
        )


class Reply(Value):
    """The task is over and this is the answer; `outcome` says truthfully how it ended."""

    kind: Literal["reply"] = "reply"
    text: str = ""
    text_ref: BlobRef | None = None
    """Holds the text where it is longer than INLINE_TEXT_BYTES; then `text` is its beginning."""
    outcome: Literal["done", "partly_failed", "failed"] = "done"


class ToolCalls(Value):
    """Run these; calls without `after` between them may run side by side."""

    kind: Literal["tool_calls"] = "tool_calls"
    calls: tuple[ToolCall, ...]
    note: str = ""
    """What the planner says to the person meanwhile."""


class AskUser(Value):
    """The person must say something before the task can go on."""

    kind: Literal["ask_user"] = "ask_user"
    question: str
    choices: tuple[str, ...] = ()


NextStep = Annotated[Reply | ToolCalls | AskUser, Field(discriminator="kind")]


class PlanRequest(Value):
    """The transcript so far, and the turns that are not in it yet."""

    task_id: str
    step: int
    language: Language
    transcript_ref: BlobRef | None
    additions: tuple[Turn, ...]
    usage: Usage = Usage()
    budget_usd: float | None = None
    """What the task may cost in all; None is no limit."""
    actor: Actor | None = None
    beyond: bool = False
    """True once the person has let this task go on beyond what all their tasks together may use up."""


class PlanOutcome(Value):
    """The decision, and the transcript with the additions and the decision in it."""

    next_step: NextStep
    transcript_ref: BlobRef
    usage: Usage = Usage()
    """Of this call alone."""
    spoken_hosts: tuple[str, ...] = ()
    """Every host that the person has named so far in their own words."""
    over_budget: bool = False
    """True if nothing was asked of the model because the budget would not bear it; `next_step` then asks the person."""
    exceeded: tuple[Exceeded, ...] = ()
    """Which budgets those were."""
    quotes: bool = False
    """True if a message of the person passes on what somebody else wrote, which the planner has now read."""
    attaches: bool = False
    """True if the person gave a file of their own."""
