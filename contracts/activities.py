"""The activities that workflows may call, by their names and shapes; workers give them a body."""

from temporalio import activity

from contracts.delivery import DeliverOutcome, DeliverRequest
from contracts.language import Language
from contracts.messages import Attachment, HostGrant
from contracts.planning import PlanOutcome, PlanRequest
from contracts.sandbox import Lease, LeaseRequest
from contracts.task import Approval
from contracts.tools import Provenance, ToolCall
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


class RunRequest(Value):
    """Run one judged call. The worker judges once more: a call that asks needs its approval here."""

    judged: JudgeRequest
    lease: Lease | None
    approval: Approval | None = None
    language: Language = "en"


class RunOutcome(Value):
    """What the call gave, small enough for history."""

    turn: ToolTurn
    provenance: Provenance
    files: tuple[Attachment, ...] = ()
    send: tuple[Attachment, ...] = ()
    replayed: bool = False
    """True if the effect had already happened in an earlier attempt and its record was read back."""


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


class Acting:
    """Runs tools on the host that holds the sandbox."""

    @activity.defn(name="run_tool")
    async def run_tool(self, request: RunRequest) -> RunOutcome:
        raise NotImplementedError


class Leasing:
    """Makes and removes sandboxes."""

    @activity.defn(name="lease_sandbox")
    async def lease_sandbox(self, request: LeaseRequest) -> Lease:
        raise NotImplementedError

    @activity.defn(name="release_sandbox")
    async def release_sandbox(self, lease: Lease) -> None:
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
