"""A stage for workflows: the real server and worker, and activities that follow a script and keep a record."""

import asyncio
import gc
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime

from temporalio import activity
from temporalio.client import Client, Interceptor, WorkflowHandle
from temporalio.exceptions import ApplicationError
from temporalio.worker import Worker

from contracts import errors
from contracts.activities import (
    Acting,
    ApprovalNote,
    Delivering,
    Demands,
    Fingerprint,
    FingerprintRequest,
    JudgeOutcome,
    JudgeRequest,
    Judging,
    Noting,
    Planning,
    RunOutcome,
    RunRequest,
    Watching,
)
from contracts.approvals import Bound
from contracts.blobs import BlobRef
from contracts.delivery import DeliverOutcome, DeliverRequest
from contracts.lifecycle import Lifetimes, SandboxState, SandboxView
from contracts.messages import Address
from contracts.planning import NextStep, PlanOutcome, PlanRequest, Reply, ToolCalls, Usage
from contracts.provenance import Provenance, TakenIn
from contracts.queues import CONTROL, GATEWAY, HOSTS, WORKFLOWS, host_queue, sandbox_workflow_id, task_workflow_id
from contracts.task import Limits, TaskInput, TaskRecord, TaskResult, TaskStatus
from contracts.tools import ToolCall, args_digest
from contracts.transcript import ToolTurn, UserTurn
from contracts.verdicts import Actor, Allow, Verdict
from runtime.plugin import agent_os_plugin
from tests.histories.keyring import fixed_keyring
from tests.server import temporal_server
from tests.workflows.places import Places
from workers.placing import Placing
from workflows.conversation import ConversationWorkflow
from workflows.sandbox import SandboxWorkflow
from workflows.sweep import SweepWorkflow
from workflows.task import TaskWorkflow

USER = "console:1"


def call(tool: str = "shell", *, call_id: str | None = None, after: tuple[str, ...] = (), **args: str) -> ToolCall:
    """A call as the planner would make it."""
    given = dict(args)
    return ToolCall(
        call_id=call_id or uuid.uuid4().hex[:8],
        tool=tool,
        args=dict(given),
        args_sha256=args_digest(tool, dict(given)),
        summary=f"{tool} {' '.join(args.values())}".strip(),
        after=after,
    )


def calls(*each: ToolCall) -> ToolCalls:
    return ToolCalls(calls=each)


def ok(request: RunRequest, *, trusted: bool = True) -> RunOutcome:
    """The outcome of a call that went well."""
    given = request.judged.call
    return RunOutcome(
        turn=ToolTurn(call_id=given.call_id, tool=given.tool, ok=True, headline="fine"),
        provenance=Provenance(trusted=trusted, confidentiality="public"),
    )


def failed(request: RunRequest, error: str = "failed") -> RunOutcome:
    given = request.judged.call
    return RunOutcome(
        turn=ToolTurn(call_id=given.call_id, tool=given.tool, ok=False, headline="no luck", error=error),
        provenance=Provenance(trusted=True, confidentiality="public"),
    )


@dataclass
class Script(Places, Planning, Judging, Noting, Acting, Delivering, Watching):
    """What each activity answers, and what it was asked."""

    plan_step: Callable[[PlanRequest], NextStep | PlanOutcome | Awaitable[NextStep]] = lambda _: Reply(text="done")
    verdict: Callable[[JudgeRequest], Verdict] = lambda _: Allow()
    tool: Callable[[RunRequest], RunOutcome | Awaitable[RunOutcome]] = ok
    demands: Demands = field(default_factory=Demands)
    lifetimes: Lifetimes = field(default_factory=Lifetimes)
    repeatable: bool = False
    taken_in: TakenIn = field(default_factory=TakenIn)
    plans: list[PlanRequest] = field(default_factory=list)
    runs: list[RunRequest] = field(default_factory=list)
    delivered: list[DeliverRequest] = field(default_factory=list)
    operands: tuple[str, ...] = ()
    content: dict[str, str] = field(default_factory=dict)
    noted: list[ApprovalNote] = field(default_factory=list)
    looks: list[FingerprintRequest] = field(default_factory=list)
    halted: bool = False
    """While it is true no wait for the lift ends."""
    lifts: list[str] = field(default_factory=list)

    @activity.defn(name="plan")
    async def plan(self, request: PlanRequest) -> PlanOutcome:
        self.plans.append(request)
        answer = self.plan_step(request)
        if isinstance(answer, Awaitable):
            answer = await answer
        if isinstance(answer, PlanOutcome):
            return answer
        number = f"{len(self.plans):064x}"
        return PlanOutcome(
            next_step=answer, transcript_ref=BlobRef(sha256=number, size=1), usage=Usage(cost_usd=0.01, calls=1)
        )

    @activity.defn(name="judge")
    async def judge(self, request: JudgeRequest) -> JudgeOutcome:
        return JudgeOutcome(
            verdict=self.verdict(request),
            preview=str(request.call.args),
            needs_sandbox=request.call.tool != "ask_user",
            repeatable=self.repeatable,
            timeout_seconds=30,
            demands=self.demands,
            bound=Bound(tool=request.call.tool, args_sha256=request.call.args_sha256, tainted=request.tainted),
            operands=self.operands,
        )

    @activity.defn(name="note_approval")
    async def note_approval(self, note: ApprovalNote) -> None:
        self.noted.append(note)

    @activity.defn(name="fingerprint")
    async def fingerprint(self, request: FingerprintRequest) -> Fingerprint:
        self.looks.append(request)
        return Fingerprint(real={path: path for path in request.paths}, content=dict(self.content))

    @activity.defn(name="run_tool")
    async def run_tool(self, request: RunRequest) -> RunOutcome:
        self.runs.append(request)
        answer = self.tool(request)
        return await answer if isinstance(answer, Awaitable) else answer

    @activity.defn(name="deliver")
    async def deliver(self, request: DeliverRequest) -> DeliverOutcome:
        self.delivered.append(request)
        return DeliverOutcome(delivered=True, message_id="1")

    @activity.defn(name="what_task_took_in")
    async def what_task_took_in(self, task_id: str) -> TakenIn:
        return self.taken_in

    @activity.defn(name="task_is_open")
    async def task_is_open(self, task_id: str) -> bool:
        return False

    @activity.defn(name="await_lift")
    async def await_lift(self, task_id: str) -> None:
        self.lifts.append(task_id)
        if self.halted:
            raise ApplicationError("the kill switch was pulled", type=errors.HALTED)


@dataclass
class Mode:
    """How all stages run; options of the test run and single tests change it."""

    cached: int = 100
    """0 lets every workflow task replay from the start, which finds any non-determinism."""
    interceptors: tuple[Interceptor, ...] = ()
    sandboxed: bool = True
    """The SDK's sandbox refuses imports and calls that a workflow may not make."""


MODE = Mode()


@dataclass
class Stage:
    """The server, its worker, and the script."""

    client: Client
    script: Script

    def input(self, text: str = "do it", **changes: object) -> TaskInput:
        task_id = uuid.uuid4().hex
        given = TaskInput(
            record=TaskRecord(task_id=task_id, created_at=datetime.now(UTC)),
            request=UserTurn(text=text, at=datetime.now(UTC), message_id="m0"),
            goal=text,
            actor=Actor(user_id=USER, role="owner", channel="console"),
            address=Address(channel="console", chat_id="1"),
            language="en",
            limits=Limits(budget_usd=1.0),
            pushes=False,
        )
        return given.model_copy(update=changes)

    async def start(self, given: TaskInput | None = None) -> WorkflowHandle[TaskWorkflow, TaskResult]:
        given = given or self.input()
        return await self.client.start_workflow(
            TaskWorkflow.run, given, id=task_workflow_id(given.record.task_id), task_queue=WORKFLOWS
        )

    async def until(
        self, handle: WorkflowHandle[TaskWorkflow, TaskResult], true: Callable[[TaskStatus], bool]
    ) -> TaskStatus:
        """The first status for which this holds."""
        async with asyncio.timeout(60):
            while True:
                status = await handle.query(TaskWorkflow.status)
                if true(status):
                    return status
                await asyncio.sleep(0.03)

    def sandbox(self, owner: str) -> WorkflowHandle[SandboxWorkflow, SandboxView]:
        return self.client.get_workflow_handle_for(SandboxWorkflow.run, sandbox_workflow_id(owner))

    async def until_sandbox(self, owner: str, *states: SandboxState) -> SandboxView:
        """Its view once it is in one of these states."""
        async with asyncio.timeout(60):
            while True:
                view = await self.sandbox(owner).query(SandboxWorkflow.view)
                if view.state in states:
                    return view
                await asyncio.sleep(0.03)


@asynccontextmanager
async def stage(script: Script, *, cached: int | None = None) -> AsyncIterator[Stage]:
    """Run the script on a server of its own, with the program's wiring and, beyond it, workflows in a sandbox."""
    plugin = agent_os_plugin(fixed_keyring(), sandboxed=MODE.sandboxed)
    async with (
        temporal_server(plugins=[plugin], interceptors=MODE.interceptors) as environment,
        on_stage(environment.client, script, cached=cached) as stage,
    ):
        yield stage


@asynccontextmanager
async def on_stage(
    client: Client, script: Script, *, cached: int | None = None, hosting: bool = True
) -> AsyncIterator[Stage]:
    """Run the script on this server; workers see the world as the client does. Without `hosting` the hosts of
    sandboxes are others."""
    async with AsyncExitStack() as stack:
        # Workflows that were cut short log what their ends trip over. Python 3.11.7 breaks down if that happens in the
        # middle of its parser, which pytest uses to show a failure: https://github.com/python/cpython/issues/106905
        stack.callback(gc.collect)
        await stack.enter_async_context(
            Worker(
                client,
                task_queue=WORKFLOWS,
                workflows=[TaskWorkflow, ConversationWorkflow, SandboxWorkflow, SweepWorkflow],
                activities=[script.judge, script.note_approval, script.plan],
                max_cached_workflows=MODE.cached if cached is None else cached,
            )
        )
        for queue, activities in [*served(client, script), *(hosted(script) if hosting else [])]:
            await stack.enter_async_context(Worker(client, task_queue=queue, activities=activities))
        yield Stage(client, script)


def served(client: Client, script: Script) -> list[tuple[str, Sequence[Callable[..., object]]]]:
    """Which queue serves which activities, but for those of hosts."""
    return [
        (
            CONTROL,
            [
                script.run_tool,
                script.task_is_open,
                script.what_task_took_in,
                script.await_lift,
                Placing(client, script.lifetimes).acquire_sandbox,
            ],
        ),
        (GATEWAY, [script.deliver]),
    ]


def hosted(script: Script) -> list[tuple[str, Sequence[Callable[..., object]]]]:
    """The queues of the script's own host, and of all hosts."""
    here: list[Callable[..., object]] = [
        script.run_tool,
        script.fingerprint,
        script.pause_sandbox,
        script.resume_sandbox,
        script.snapshot_sandbox,
        script.sleep_sandbox,
        script.release_sandbox,
        script.undo_in_sandbox,
    ]
    return [
        (HOSTS, [script.lease_sandbox, script.reclaim_sandbox]),
        (host_queue("test"), here),
    ]
