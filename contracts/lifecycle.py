"""The life of one sandbox: what starts its workflow, what can be said to it, and what can be seen of it.

Messages of `SandboxWorkflow`. From its task come the update `need(AcquireRequest) -> Acquired` and the signals
`waiting(WaitingNotice)`, `takes_in(TakenIn)` and `ended()`. From people come the updates `pause()`,
`resume(lost_epoch)`, `restore(which)`, `reset()` and `destroy()`, each of which gives the SandboxView,
`snapshot(name, kind) -> Snapshot`, `undo(step) -> Undone`, and `fork(name, which) -> str`, which gives the new owner.
The query is `view() -> SandboxView`.
"""

from datetime import datetime
from enum import StrEnum

from pydantic import Field

from contracts.activities import Acquired, AcquireRequest
from contracts.messages import HostGrant
from contracts.provenance import TakenIn
from contracts.sandbox import Lease, Snapshot
from contracts.values import Value


class SandboxState(StrEnum):
    """Where a sandbox stands; the search attribute SandboxState."""

    QUEUED = "queued"
    """No host has room; it is tried until one has."""
    LEASING = "leasing"
    ACTIVE = "active"
    PAUSED = "paused"
    """Frozen where it is, in memory."""
    ASLEEP = "asleep"
    """Saved; it takes no place on any host."""
    WAKING = "waking"
    RECLAIMED = "reclaimed"
    """Only its project files are kept."""
    DESTROYED = "destroyed"
    FAILED = "failed"
    """It could not be had; the next need tries again."""


HELD_STATES = frozenset({SandboxState.ACTIVE, SandboxState.PAUSED})
COMING_STATES = frozenset({SandboxState.QUEUED, SandboxState.LEASING, SandboxState.WAKING})
"""A host may already hold it although no lease is known yet."""


class Lifetimes(Value):
    """How long a sandbox that nobody needs stays in each state."""

    pause_after_seconds: float = Field(default=0.0, ge=0)
    """A task that waits for its person so long has its sandbox frozen."""
    idle_seconds: float = Field(default=900.0, gt=0)
    retention_days: float = Field(default=7.0, gt=0)


class WaitingNotice(Value):
    """The task waits for its person, and uses its sandbox no more until it asks for it again."""

    snapshot: str = ""
    """Save the state under this name meanwhile."""


class Transition(Value):
    """One change of state, and why."""

    at: datetime
    state: SandboxState
    why: str = ""


class Answered(Value):
    """The last need and what it was given, so that the same need gets the same answer."""

    request: AcquireRequest
    acquired: Acquired


class SandboxCarry(Value):
    """The whole state of a sandbox's workflow between two of its runs."""

    state: SandboxState
    since: datetime
    touched: datetime
    """When it was last needed."""
    lease: Lease | None = None
    epoch: int = 0
    snapshots: tuple[Snapshot, ...] = ()
    """Newest first."""
    head: str | None = None
    """Digest of the snapshot that the next waking begins with."""
    egress: tuple[HostGrant, ...] = ()
    image: str | None = None
    runtime: str | None = None
    working: bool = False
    waiting: bool = False
    ended: bool = False
    existed: bool = False
    wanted: str = ""
    saved_as: str = ""
    restored: Snapshot | None = None
    files_lost: bool = False
    problem: str = ""
    answered: Answered | None = None
    history: tuple[Transition, ...] = ()
    retention_days: float | None = None
    """What policy says of it; None leaves it to `lifetimes`."""
    taken_in: TakenIn = TakenIn()


class SandboxInput(Value):
    """What starts the workflow of one sandbox."""

    owner: str
    """Task id, or the name of a fork."""
    user_id: str
    task_id: str | None = None
    """None for a fork, which no task uses."""
    lifetimes: Lifetimes = Lifetimes()
    snapshots: tuple[Snapshot, ...] = ()
    """What a fork begins with."""
    taken_in: TakenIn = TakenIn()
    """By the sandbox that a fork was made from."""
    continue_after_events: int = Field(default=0, ge=0)
    """Continue as new after so many history events; 0 leaves it to the server's advice."""
    carry: SandboxCarry | None = None


class SandboxView(Value):
    """What anyone who may look at a sandbox sees of it."""

    owner: str
    user_id: str
    task_id: str | None = None
    state: SandboxState
    since: datetime
    lease: Lease | None = None
    epoch: int = 0
    snapshots: tuple[Snapshot, ...] = ()
    """Newest first."""
    head: str | None = None
    """Digest of the snapshot that the next waking begins with."""
    working: bool = False
    """True while its task works and may use it at any moment."""
    problem: str = ""
    """What last went wrong, such as a snapshot that could not be brought back."""
    next_step: str = ""
    """What happens by itself if nobody needs it until `next_at`."""
    next_at: datetime | None = None
    history: tuple[Transition, ...] = ()
    """The last changes of state, oldest first."""
    touched: datetime | None = None
    """When it was last needed."""
    taken_in: TakenIn = TakenIn()
    """Whether others may have written what lies in it, and whether some of it is for the person alone."""
