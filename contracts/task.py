"""A task: its record, what starts it, what can be said to it, and what can be seen of it."""

from datetime import datetime
from enum import StrEnum
from typing import Literal

from pydantic import Field

from contracts.approvals import Bound, Shape, StepUp
from contracts.blobs import BlobRef, Sha256
from contracts.language import Language
from contracts.messages import Address, Attachment, HostGrant
from contracts.planning import Usage
from contracts.provenance import Effect, TakenIn
from contracts.sandbox import Lease
from contracts.transcript import Turn, UserTurn
from contracts.values import Value
from contracts.verdicts import Actor, Reason, RiskPart


class Phase(StrEnum):
    """Where a task stands; the search attribute TaskPhase."""

    QUEUED = "queued"
    LEASING = "leasing"
    PLANNING = "planning"
    ACTING = "acting"
    AWAITING_APPROVAL = "awaiting_approval"
    AWAITING_USER = "awaiting_user"
    PAUSED = "paused"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


CLOSED_PHASES = frozenset({Phase.COMPLETED, Phase.FAILED, Phase.CANCELLED})


class TaskRecord(Value):
    """The public record of a task."""

    task_id: str
    priority: int = Field(default=5, ge=1, le=10)
    """1 is the most urgent."""
    type: Literal["browser", "cli", "api", "composite"] = "composite"
    status: Phase = Phase.QUEUED
    sandbox_snapshot: str | None = None
    identity_profile: str | None = None
    requires_human_approval: bool = False
    risk_score: int = Field(default=0, ge=0, le=100)
    created_at: datetime
    deadline: datetime | None = None
    dependencies: tuple[str, ...] = ()
    retry_count: int = 0


class Limits(Value):
    """What one task may use up."""

    budget_usd: float | None = None
    max_steps: int = Field(default=200, ge=1)
    same_failure: int = Field(default=3, ge=2)
    """So many equal failures of the same call end in a question."""
    approval_hours: float = Field(default=72.0, gt=0)
    answer_hours: float = Field(default=168.0, gt=0)
    remind_after_minutes: float = Field(default=2.0, gt=0)
    """An edited message rings no bell: after so long a wait for the person a new one does, and then once a day."""
    continue_after_events: int = Field(default=0, ge=0)
    """Continue as new after so many history events; 0 leaves it to the server's advice."""


class TaskInput(Value):
    """What starts a task, and all that crosses a continue-as-new (`carry`)."""

    record: TaskRecord
    request: UserTurn
    goal: str
    """One line, for summaries."""
    actor: Actor
    address: Address
    language: Language
    conversation_id: str | None = None
    grants: tuple[HostGrant, ...] = ()
    limits: Limits = Limits()
    pushes: bool = True
    """False for a channel that asks for the status itself, such as the terminal."""
    carry: "Carry | None" = None
    taken_in: TakenIn = TakenIn()
    """What it inherits from the task that started it, or that it continues."""


class StepView(Value):
    """One line of the progress list."""

    step: int
    summary: str
    state: Literal["running", "done", "failed", "denied", "waiting"]


class Covered(Value):
    """One call that a card asks for."""

    call_id: str
    tool: str
    args_sha256: Sha256
    digest: Sha256
    """Of its Bound."""
    summary: str
    preview: str
    bound: Bound | None = None
    """So that a refusal can say what is different; its digest is the one above."""


class Approval(Value):
    """A question whose answer is yes or no, bound to one call, or to the calls of one plan, and all that they touch."""

    approval_id: str
    call_id: str
    tool: str
    args_sha256: Sha256
    summary: str
    preview: str
    """The arguments as the person must see them, escaped and bounded."""
    reasons: tuple[Reason, ...]
    effects: tuple[Effect, ...] = ()
    risk: int
    egress: tuple[HostGrant, ...] = ()
    digest: Sha256 = "0" * 64
    """Over the digests of all covered calls; a decision must name it."""
    covers: tuple[Covered, ...] = ()
    """Every call that a yes lets run, the first one included."""
    destinations: tuple[str, ...] = ()
    risk_parts: tuple[RiskPart, ...] = ()
    step_up: bool = False
    shape: Shape | None = None
    aim: str = ""
    approvers: tuple[str, ...] = ()
    policy_version: str = ""
    asked_at: datetime
    expires_at: datetime


class Asked(Value):
    """A question of the planner that waits for the person's words."""

    question_id: str
    question: str
    choices: tuple[str, ...] = ()
    asked_at: datetime | None = None


class Decision(Value):
    """A person's yes or no."""

    approval_id: str
    call_id: str
    args_sha256: Sha256
    approve: bool
    by: str
    """The user id, as `<channel>:<id>`."""
    note: str = ""
    digest: Sha256 = "0" * 64
    """Of the approval, as it was shown."""
    always: Literal["", "task", "person"] = ""
    """Let the same shape pass from now on, in this task or in all of the person's."""
    step_up: StepUp | None = None
    as_owner: bool = False
    """True if the gateway knows them as the owner of the installation."""


class ApprovalSignal(Value):
    """A yes or no from the Temporal UI or command line, which cannot know the digest."""

    approval_id: str
    by: str = "temporal"
    note: str = ""


class GivenAnswer(Value):
    """The person's words for an asked question."""

    question_id: str
    turn: UserTurn
    by: str = ""


class Says(Value):
    """A further message to a running task."""

    turn: UserTurn
    by: str = ""


class PauseRequest(Value):
    """Stop before the next call; with `interrupt`, the running call is cancelled too."""

    interrupt: bool = False
    by: str = ""


class SetBudget(Value):
    """What the task may cost in all; None is no limit."""

    budget_usd: float | None = Field(default=None, ge=0)
    by: str = ""


class Receipt(Value):
    """What became of something said to a task."""

    accepted: bool = True
    duplicate: bool = False
    detail: str = ""


class Failure(Value):
    """How often the same call failed in the same way, to notice a loop."""

    args_sha256: Sha256
    error: str
    count: int


class Carry(Value):
    """The whole state of a task between two runs of its workflow."""

    transcript_ref: BlobRef | None = None
    additions: tuple[Turn, ...] = ()
    step: int = 0
    seen_ids: tuple[str, ...] = ()
    """The last message and decision ids that were applied."""
    lease: Lease | None = None
    epoch: int = 0
    paused: bool = False
    usage: Usage = Usage()
    budget_usd: float | None = None
    spoken_hosts: tuple[str, ...] = ()
    approved_hosts: tuple[HostGrant, ...] = ()
    tainted: bool = False
    files: tuple[Attachment, ...] = ()
    steps: tuple[StepView, ...] = ()
    failures: tuple[Failure, ...] = ()
    risk_score: int = 0
    sequence: int = 0
    """Number of the last view that was delivered."""
    needs: int = 0
    """How often the task has asked for its sandbox."""
    resting: bool = False
    """True if the sandbox was told that the task waits: it is asked for again before the next call."""
    notes: tuple[str, ...] = ()
    denied_aims: dict[str, int] = Field(default_factory=dict)
    """How often the person said no to each aim."""
    private: bool = False
    beyond: bool = False
    """True once the person has let the task go on beyond what all their tasks together may use up."""


class TaskStatus(Value):
    """What anyone who may look at a task sees of it."""

    record: TaskRecord
    goal: str
    phase: Phase
    step: int
    steps: tuple[StepView, ...] = ()
    approval: Approval | None = None
    asked: Asked | None = None
    answer: str = ""
    answer_ref: BlobRef | None = None
    outcome: Literal["done", "partly_failed", "failed", "cancelled"] | None = None
    files: tuple[Attachment, ...] = ()
    usage: Usage = Usage()
    lease: Lease | None = None
    notes: tuple[str, ...] = ()
    """Codes of what the person should know, such as `sandbox_lost`, `sandbox_restored`."""
    sequence: int = 0
    """Grows with every visible change."""
    language: Language = "en"
    taken_in: TakenIn = TakenIn()


class TaskResult(Value):
    """How a task ended."""

    task_id: str
    phase: Phase
    outcome: Literal["done", "partly_failed", "failed", "cancelled"]
    answer: str = ""
    answer_ref: BlobRef | None = None
    files: tuple[Attachment, ...] = ()
    usage: Usage = Usage()
    steps: int = 0


TaskInput.model_rebuild()
