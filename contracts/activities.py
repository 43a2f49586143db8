"""The activities that workflows may call, by their names and shapes; workers give them a body."""

from datetime import datetime
from typing import Literal

from pydantic import Field
from temporalio import activity

from contracts.approvals import Bound, StepUp
from contracts.blobs import BlobRef
from contracts.delivery import DeliverOutcome, DeliverRequest
from contracts.language import Language
from contracts.messages import Attachment, HostGrant
from contracts.planning import PlanOutcome, PlanRequest
from contracts.provenance import Provenance, TakenIn
from contracts.sandbox import Lease, LeaseRequest, Snapshot, SnapshotKind, SweepReport
from contracts.task import Approval, Decision
from contracts.tools import ToolCall
from contracts.transcript import ToolTurn
from contracts.values import Value
from contracts.verdicts import Actor, Verdict


class JudgeRequest(Value):
    """Everything that policy must know of one call."""

    task_id: str
    actor: Actor
    call: ToolCall
    spoken_hosts: tuple[str, ...] = ()
    approved_hosts: tuple[HostGrant, ...] = ()
    tainted: bool = False
    private: bool = False
    """True once the task has read what only the person may see."""
    transcript_ref: BlobRef | None = None
    """What the planner had seen when it made the call; arguments are taken to their sources in it."""
    task_risk: int = 0
    budget_usd: float | None = None
    goal: str = ""
    real_paths: dict[str, str] = Field(default_factory=dict)
    """Where links of the sandbox lead that an attempt at this call has found to matter."""


class Demands(Value):
    """What policy wants of the sandbox before a call runs in it."""

    runtime: str | None = None
    """An OCI runtime by name, such as `runsc`; without it the call does not run."""
    snapshot: bool = False
    """Save the sandbox's state first, so that the step can be undone."""
    retention_days: float | None = None
    """How long what the sandbox holds is kept after its last use; None leaves that to the settings."""


class JudgeOutcome(Value):
    """The verdict, and how the call looks to a person."""

    verdict: Verdict
    preview: str
    known: bool = True
    """False if there is no such tool, or its arguments do not fit."""
    needs_sandbox: bool = True
    repeatable: bool = False
    """False if a second run could have a second effect: then one attempt is all."""
    problem: str = ""
    timeout_seconds: float = 600.0
    """How long the call may take at most, by its own arguments."""
    demands: Demands = Demands()
    bound: Bound | None = None
    """What an approval of this call is bound to; the host adds the files."""
    operands: tuple[str, ...] = ()
    """Paths in the sandbox whose content matters for a yes: scripts that would run, files that would be sent."""


class FingerprintRequest(Value):
    """Look at files of a sandbox without touching them."""

    lease: Lease
    paths: tuple[str, ...]
    """Absolute; wildcards are live, and `[*]` stands for a star, as in the operands of a judged call."""


class Fingerprint(Value):
    """What paths of a sandbox stand for."""

    real: dict[str, str] = Field(default_factory=dict)
    """Each path with all symbolic links followed; one that leads nowhere stays as it is."""
    content: dict[str, str] = Field(default_factory=dict)
    """By real path: SHA-256 in hex, or `absent`, `folder`, `unreadable`, `too_large`."""


ApprovalEvent = Literal["asked", "decided", "expired", "given_up"]


class ApprovalNote(Value):
    """What became of a question, for the record and for standing rules."""

    task_id: str
    user_id: str
    approval: Approval
    event: ApprovalEvent
    decision: Decision | None = None
    role: str = ""
    """Of the person."""


class Earlier(Value):
    """An attempt at a call that may have had its effect: its end was never heard of."""

    lease: Lease
    at: datetime


class RunRequest(Value):
    """Run one judged call. The worker judges once more: a call that asks needs its approval here."""

    judged: JudgeRequest
    lease: Lease | None
    approval: Approval | None = None
    language: Language = "en"
    earlier: Earlier | None = None
    """The last attempt in a sandbox that was lost: only the ledger of its host knows what became of it."""
    step_up: StepUp | None = None
    """What the second factor confirmed with the yes."""


class RunOutcome(Value):
    """What the call gave, small enough for history."""

    turn: ToolTurn
    provenance: Provenance
    files: tuple[Attachment, ...] = ()
    send: tuple[Attachment, ...] = ()
    replayed: bool = False
    """True if the effect had already happened in an earlier attempt and its record was read back."""
    real_paths: dict[str, str] | None = None
    """Of a call that is `changed` because its links lead elsewhere: where they lead."""


class Planning:
    """Thinks: one model call, or the rules."""

    @activity.defn(name="plan")
    async def plan(self, request: PlanRequest) -> PlanOutcome:
        raise NotImplementedError


class Judging:
    """Asks policy, and records what it said."""

    @activity.defn(name="judge")
    async def judge(self, request: JudgeRequest) -> JudgeOutcome:
        raise NotImplementedError


class Noting:
    """Writes down what became of approvals, and keeps what the person allowed for good."""

    @activity.defn(name="note_approval")
    async def note_approval(self, note: ApprovalNote) -> None:
        raise NotImplementedError


class Acting:
    """Runs tools on the host that holds the sandbox."""

    @activity.defn(name="run_tool")
    async def run_tool(self, request: RunRequest) -> RunOutcome:
        raise NotImplementedError

    @activity.defn(name="fingerprint")
    async def fingerprint(self, request: FingerprintRequest) -> Fingerprint:
        raise NotImplementedError


class AcquireRequest(Value):
    """A task needs its sandbox now, whatever state that is in."""

    task_id: str
    user_id: str
    number: int
    """Counts the needs of one task; the same number is the same need, however often it is asked."""
    egress: tuple[HostGrant, ...] = ()
    image: str | None = None
    runtime: str | None = None
    lost_epoch: int = 0
    """Epoch of the lease that the task found lost."""
    snapshot: str = ""
    """Save the state under this name before the lease is given."""
    retention_days: float | None = None
    """How long the sandbox is kept after its last use; None leaves it as it was."""
    taken_in: TakenIn = TakenIn()
    """By the task, and so by everything that it does in the sandbox."""


class Acquired(Value):
    """The lease, and what became of the state meanwhile."""

    lease: Lease
    restored: Snapshot | None = None
    """The snapshot that the sandbox was brought back from since the task last had it."""
    files_lost: bool = False
    """True if it had to begin empty although the task had one before."""
    snapshot: Snapshot | None = None
    """The one that was asked for."""
    problem: str = ""
    """Why it is not the state that was left, such as that the newest snapshot had been changed."""
    taken_in: TakenIn = TakenIn()
    """By the sandbox, in its whole life and in the one that it was made from."""


class SnapshotRequest(Value):
    """Save the state of one sandbox."""

    lease: Lease
    name: str
    kind: SnapshotKind = "files"


class ReclaimRequest(Value):
    """Keep the project files of an owner's sandbox, whose retention is over."""

    owner: str
    latest: str
    """Digest of the state whose project files stay."""


class SweepRequest(Value):
    """Sweep the host with this id."""

    host_id: str


class Placing:
    """Finds a task its sandbox; it speaks with the sandbox's own workflow."""

    @activity.defn(name="acquire_sandbox")
    async def acquire_sandbox(self, request: AcquireRequest) -> Acquired:
        raise NotImplementedError


class Leasing:
    """Makes, keeps and removes sandboxes; runs on the host that holds them."""

    @activity.defn(name="lease_sandbox")
    async def lease_sandbox(self, request: LeaseRequest) -> Lease:
        raise NotImplementedError

    @activity.defn(name="pause_sandbox")
    async def pause_sandbox(self, lease: Lease) -> None:
        raise NotImplementedError

    @activity.defn(name="resume_sandbox")
    async def resume_sandbox(self, lease: Lease) -> None:
        raise NotImplementedError

    @activity.defn(name="snapshot_sandbox")
    async def snapshot_sandbox(self, request: SnapshotRequest) -> Snapshot:
        raise NotImplementedError

    @activity.defn(name="sleep_sandbox")
    async def sleep_sandbox(self, request: SnapshotRequest) -> Snapshot:
        raise NotImplementedError

    @activity.defn(name="release_sandbox")
    async def release_sandbox(self, lease: Lease) -> None:
        raise NotImplementedError

    @activity.defn(name="reclaim_sandbox")
    async def reclaim_sandbox(self, request: ReclaimRequest) -> Snapshot | None:
        """Gives the snapshot of the project files that stays, or None if there were none."""
        raise NotImplementedError

    @activity.defn(name="sweep_host")
    async def sweep_host(self, request: SweepRequest) -> SweepReport:
        raise NotImplementedError


class Delivering:
    """Speaks to the person; hosted by the gateway, which owns the connections."""

    @activity.defn(name="deliver")
    async def deliver(self, request: DeliverRequest) -> DeliverOutcome:
        raise NotImplementedError


class Watching:
    """Looks up what other workflows do."""

    @activity.defn(name="task_is_open")
    async def task_is_open(self, task_id: str) -> bool:
        raise NotImplementedError

    @activity.defn(name="what_task_took_in")
    async def what_task_took_in(self, task_id: str) -> TakenIn:
        """Of a task that nobody can say anything about the worst is believed."""
        raise NotImplementedError

    @activity.defn(name="await_lift")
    async def await_lift(self, task_id: str) -> None:
        """Ends once the kill switch lets the task act again; until then each attempt fails and is tried again."""
        raise NotImplementedError
