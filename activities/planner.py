"""What a planner is: one function from the turns of a task to a draft of the next step."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

from contracts.language import Language
from contracts.planning import Usage
from contracts.tools import ToolResult, ToolSpec
from contracts.transcript import Turn
from contracts.values import JsonObject


class PlannerRefused(Exception):
    """Raised when the provider will never answer this request, such as for a wrong key; the text names the remedy.

    `code` is one of bad_request, authentication, not_found, context_window, content_policy, budget.
    """

    def __init__(self, code: str, remedy: str) -> None:
        super().__init__(f"{code}: {remedy}")
        self.code = code
        self.remedy = remedy


class PlannerBusy(Exception):
    """Raised when the provider asks to wait (429) or is down (5xx); the activity is tried again after that time."""

    def __init__(self, reason: str, retry_after_seconds: float | None = None) -> None:
        super().__init__(reason)
        self.retry_after_seconds = retry_after_seconds


@dataclass(frozen=True)
class PlannerContext:
    """All that a planner may build on. It keeps no state: the turns are the state."""

    task_id: str
    step: int
    language: Language
    turns: tuple[Turn, ...]
    """Oldest first; texts that lay in blobs are filled in."""
    results: Mapping[str, ToolResult]
    """By call id."""
    tools: tuple[ToolSpec, ...]
    purse: "Purse"
    """Whoever asks a model reserves there first, and settles afterwards."""
    usage: Usage = field(default_factory=Usage)


class Purse(Protocol):
    """What a thought may cost."""

    async def reserve(self, most: Usage) -> "DraftQuestion | None":
        """Take what it may cost at most; if there is not enough, the question to put instead of thinking."""
        ...

    async def settle(self, spent: Usage) -> None:
        """Replace what was reserved by what it did cost."""
        ...


@dataclass(frozen=True)
class DraftCall:
    """A call before it has an id and a digest."""

    tool: str
    args: JsonObject
    label: str = ""
    after: tuple[str, ...] = ()
    """Labels of calls of the same draft that must have succeeded before."""
    own_words: bool | None = None
    """See ToolCall.own_words."""


@dataclass(frozen=True)
class DraftReply:
    """The task is over."""

    text: str
    outcome: Literal["done", "partly_failed", "failed"] = "done"


@dataclass(frozen=True)
class DraftCalls:
    """Calls to run."""

    calls: tuple[DraftCall, ...]
    note: str = ""


@dataclass(frozen=True)
class DraftQuestion:
    """The person must say something first; `over_budget` if it is about money."""

    question: str
    choices: tuple[str, ...] = ()
    over_budget: bool = False
    label: str = ""
    """With a label the question is kept in the transcript as a call of `ask_user`, so that its answer can be found."""


@dataclass(frozen=True)
class Thought:
    """A draft, and what it cost."""

    draft: DraftReply | DraftCalls | DraftQuestion
    usage: Usage = field(default_factory=Usage)


class Planner(Protocol):
    """Decides the next step."""

    async def next_step(self, context: PlannerContext) -> Thought:
        """Raises: PlannerRefused, PlannerBusy."""
        ...
