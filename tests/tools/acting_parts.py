"""What tests of judging and acting are made of."""

import asyncio
import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Literal

from activities.acting import Acting, ActingParts
from activities.catalogue import Catalogue
from activities.examining import Examiner
from activities.tool import Tool, ToolContext
from activities.tools.shell import Shell
from contracts.activities import Demands, JudgeRequest, RunRequest
from contracts.approvals import Bound, StepUp, joint_digest
from contracts.blobs import BlobRef
from contracts.kill import Brake, FreeRunning
from contracts.language import Language
from contracts.ledger import Begun, CallChanged, Done, InDoubt
from contracts.provenance import Provenance
from contracts.sandbox import (
    HostedSandbox,
    Lease,
    LeaseRequest,
    SandboxLost,
    Snapshot,
    SnapshotKind,
    SweepReport,
)
from contracts.task import Approval, Covered
from contracts.tools import ToolCall, ToolResult, ToolSpec, args_digest
from contracts.usage import Ceiling
from contracts.values import JsonObject
from contracts.verdicts import Action, Actor, Allow, Question, TalkAction, Verdict
from policy.roles import BrowserRules
from tests.tools.conftest import LEASE, MemoryBlobs
from tests.tools.local_sandbox import LocalSandbox

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
SECRET = "canary-7f3a91"


@dataclass
class Says:
    """A policy that always says the same, and remembers what it was asked."""

    verdict: Verdict = field(default_factory=Allow)
    demanded: Demands = field(default_factory=Demands)
    questions: list[Question] = field(default_factory=list)
    limits: tuple[Ceiling, ...] = ()

    def judge(self, question: Question) -> Verdict:
        self.questions.append(question)
        return self.verdict

    def browsing(self, role: str) -> BrowserRules:
        return BrowserRules()

    def demands(self, question: Question, verdict: Verdict) -> Demands:
        return self.demanded

    def ceilings(self, actor: Actor) -> tuple[Ceiling, ...]:
        return self.limits


class ListedLedger:
    """A ledger in a dictionary."""

    def __init__(self) -> None:
        self.entries: dict[tuple[str, str], tuple[str, str, BlobRef | None]] = {}
        self.used: dict[tuple[str, str, str], str] = {}

    async def begin(self, task_id: str, call_id: str, args_sha256: str, tool: str, host: str) -> Begun | Done | InDoubt:
        entry = self.entries.get((task_id, call_id))
        if entry is None:
            self.entries[task_id, call_id] = (args_sha256, host, None)
            return Begun()
        if entry[0] != args_sha256:
            raise CallChanged(call_id)
        return InDoubt(started_at=NOW, host=entry[1]) if entry[2] is None else Done(result_ref=entry[2])

    async def finish(self, task_id: str, call_id: str, result_ref: BlobRef) -> BlobRef:
        args_sha256, host, first = self.entries[task_id, call_id]
        self.entries[task_id, call_id] = (args_sha256, host, first or result_ref)
        return first or result_ref

    async def use_approval(self, task_id: str, approval_id: str, call_id: str, digest: str) -> bool:
        return self.used.setdefault((task_id, approval_id, call_id), digest) == digest


@dataclass
class OneHost:
    """A host with one sandbox, or none. A `problem` is what every operation meets."""

    sandbox: LocalSandbox | None
    problem: Exception | None = None
    asked: list[str] = field(default_factory=list)
    paused: bool = False
    slept: Snapshot | None = None

    async def lease(self, request: LeaseRequest) -> Lease:
        self._begin("lease")
        return LEASE

    async def open(self, lease: Lease) -> LocalSandbox:
        if self.sandbox is None or lease.epoch != LEASE.epoch:
            raise SandboxLost(f"no sandbox {lease.sandbox_id}")
        return self.sandbox

    async def pause(self, lease: Lease) -> None:
        self._begin("pause", lease)
        self.paused = True

    async def resume(self, lease: Lease) -> None:
        self._begin("resume", lease)
        self.paused = False

    async def snapshot(self, lease: Lease, name: str, kind: SnapshotKind = "files") -> Snapshot:
        self._begin("snapshot", lease)
        return saved(lease, name, kind)

    async def sleep(self, lease: Lease, name: str, kind: SnapshotKind = "process") -> Snapshot:
        if self.slept is None:
            self._begin("sleep", lease)
            self.slept, self.sandbox = saved(lease, name, kind), None
        return self.slept

    async def release(self, lease: Lease) -> None:
        self._begin("release")
        self.sandbox = None

    async def hosted(self) -> Sequence[HostedSandbox]:
        if self.sandbox is None:
            return []
        state: Literal["active", "paused"] = "paused" if self.paused else "active"
        return [
            HostedSandbox(
                sandbox_id=LEASE.sandbox_id,
                owner=LEASE.task_id,
                user_id="telegram:7",
                epoch=LEASE.epoch,
                state=state,
                runtime=LEASE.runtime,
                image=LEASE.image,
            )
        ]

    async def sweep(self, living: Sequence[Lease]) -> SweepReport:
        self._begin("sweep")
        if self.sandbox is None or LEASE in living:
            return SweepReport()
        self.sandbox = None
        return SweepReport(sandboxes=1)

    async def close(self) -> None:
        return None

    def _begin(self, what: str, lease: Lease | None = None) -> None:
        self.asked.append(what)
        if self.problem:
            raise self.problem
        if lease is not None and (self.sandbox is None or lease.epoch != LEASE.epoch):
            raise SandboxLost(f"no sandbox {lease.sandbox_id}")


def saved(lease: Lease, name: str, kind: SnapshotKind) -> Snapshot:
    """What a store would give for it."""
    digest = hashlib.sha256(f"{lease.task_id} {name}".encode()).hexdigest()
    return Snapshot(digest=digest, kind=kind, owner=lease.task_id, name=name, created_at=NOW)


@dataclass
class Scripted:
    """A tool whose run is given."""

    body: Callable[[ToolContext], ToolResult]
    repeatable: bool = False
    seconds: float = 30.0
    runs: int = 0

    @property
    def spec(self) -> ToolSpec:
        return ToolSpec(
            name="scripted",
            description="-",
            parameters={"type": "object", "properties": {"n": {"type": "integer"}}, "additionalProperties": False},
            repeatable=self.repeatable,
            needs_sandbox=False,
        )

    def actions(self, args: JsonObject) -> tuple[Action, ...]:
        return (TalkAction(),)

    def summary(self, args: JsonObject, language: Language) -> str:
        return "scripted"

    def preview(self, args: JsonObject) -> str:
        return "scripted"

    def timeout_seconds(self, args: JsonObject) -> float:
        return self.seconds

    async def run(self, args: JsonObject, context: ToolContext) -> ToolResult:
        self.runs += 1
        await asyncio.sleep(0)
        return self.body(context)


def result(context: ToolContext, text: str = "fine") -> ToolResult:
    return ToolResult(
        call_id=context.call_id,
        tool="scripted",
        ok=True,
        headline=text[:200],
        text=text,
        data={"deep": [{"text": text}]},
        provenance=Provenance(trusted=True),
    )


@dataclass
class Rig:
    """An acting worker and all that it is made of."""

    blobs: MemoryBlobs
    host: OneHost
    policy: Says = field(default_factory=Says)
    ledger: ListedLedger = field(default_factory=ListedLedger)
    tools: tuple[Tool, ...] = (Shell(),)
    confirmed: Callable[[StepUp | None, str, datetime], bool] = lambda _step_up, _purpose, _now: False
    brake: Brake = field(default_factory=FreeRunning)

    @property
    def examiner(self) -> Examiner:
        return Examiner(Catalogue(self.tools), self.policy, self.blobs)

    @property
    def acting(self) -> Acting:
        return Acting(
            ActingParts(
                examiner=self.examiner,
                blobs=self.blobs,
                ledger=self.ledger,
                host=self.host,
                host_id="local",
                redact=lambda text: text.replace(SECRET, "[secret]"),
                now=lambda: NOW,
                confirmed=self.confirmed,
                brake=self.brake,
            )
        )

    async def whole(self, ref: BlobRef | None) -> ToolResult:
        assert ref is not None
        return ToolResult.model_validate_json(await self.blobs.get(ref))


def call(tool: str, args: JsonObject, call_id: str = "call1") -> ToolCall:
    return ToolCall(call_id=call_id, tool=tool, args=args, args_sha256=args_digest(tool, args), summary="-")


def judged(what: ToolCall, *, tainted: bool = False) -> JudgeRequest:
    actor = Actor(user_id="telegram:7", role="owner", channel="telegram")
    return JudgeRequest(task_id="task1", actor=actor, call=what, tainted=tainted)


def request(what: ToolCall, *, approval: Approval | None = None, lease: Lease | None = LEASE) -> RunRequest:
    return RunRequest(judged=judged(what), lease=lease, approval=approval)


def approval(what: ToolCall, *, tainted: bool = False, version: str = "", **changes: object) -> Approval:
    """What a person approved who was shown exactly this call, with no file that it would run or send."""
    cwd = "/workspace" if what.tool == "shell" else ""
    bound = Bound(tool=what.tool, args_sha256=what.args_sha256, cwd=cwd, tainted=tainted, policy_version=version)
    covered = Covered(
        call_id=what.call_id,
        tool=what.tool,
        args_sha256=what.args_sha256,
        digest=bound.digest(),
        summary="-",
        preview="-",
        bound=bound,
    )
    given = Approval(
        approval_id="a1",
        call_id=what.call_id,
        tool=what.tool,
        args_sha256=what.args_sha256,
        summary="-",
        preview="-",
        reasons=(),
        risk=50,
        digest=joint_digest([covered.digest]),
        covers=(covered,),
        asked_at=NOW,
        expires_at=NOW + timedelta(hours=1),
    )
    return given.model_copy(update=changes)
