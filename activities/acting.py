"""The activity `run_tool`: judge once more, journal, act in the sandbox, and give a result small enough for history."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from temporalio import activity
from temporalio.exceptions import ApplicationError

from activities import outcomes, recording
from activities.beat import Pulse, alive
from activities.examining import Examined, Examiner
from activities.failures import lost, refused
from activities.granting import Granted, Refused, grant
from activities.ledger import Ledger
from activities.redaction import Redact, RedactingBlobs, redacted
from activities.running import run_safely
from activities.tool import Tool, ToolContext
from contracts import activities
from contracts.activities import RunOutcome, RunRequest
from contracts.audit import NoRecord, Recorder
from contracts.blobs import BlobRef, Blobs
from contracts.ledger import Begun, CallChanged, Done, InDoubt
from contracts.messages import HostGrant
from contracts.sandbox import Host, Lease, Sandbox, SandboxLost
from contracts.tools import ToolCall, ToolResult
from contracts.transcript import ToolTurn
from contracts.verdicts import CommandAction


@dataclass(frozen=True)
class ActingParts:
    """What the worker gives to its acting."""

    examiner: Examiner
    blobs: Blobs
    ledger: Ledger
    host: Host
    host_id: str
    redact: Redact
    now: Callable[[], datetime]
    """Aware, in UTC."""
    recorder: Recorder = field(default_factory=NoRecord)


@dataclass(frozen=True)
class _Run:
    """A call that may run: found, judged, and granted."""

    request: RunRequest
    tool: Tool
    examined: Examined
    egress: tuple[HostGrant, ...]

    @property
    def call(self) -> ToolCall:
        return self.request.judged.call


class Acting(activities.Acting):
    """Nothing acts but through here."""

    def __init__(self, parts: ActingParts) -> None:
        self._parts = parts

    @activity.defn(name="run_tool")
    async def run_tool(self, request: RunRequest) -> RunOutcome:
        """Raises: ApplicationError of type SandboxLost or SandboxRefused, not to be retried with the same lease."""
        pulse = Pulse(activity.heartbeat)
        try:
            return await alive(self._outcome(request, pulse), pulse, _is_handed_over)
        except SandboxLost as error:
            raise lost(error) from error

    async def _outcome(self, request: RunRequest, pulse: Pulse) -> RunOutcome:
        run = await self._prepared(request)
        if isinstance(run, ToolResult):
            refused = redacted(run, self._parts.redact)
            await self._parts.recorder.record(recording.refused(request, refused))
            return _outcome(refused, await self._stored(refused))
        sandbox = await self._sandbox(run)
        entry = await self._begun(run)
        if isinstance(entry, Done):
            await self._parts.recorder.record(recording.replayed(request, entry.result_ref))
            return await self._replayed(entry.result_ref)
        began = time.monotonic()
        result = await self._result(run, entry, sandbox, pulse)
        ref = await self._stored(result)
        first, _ = await asyncio.gather(
            self._parts.ledger.finish(request.judged.task_id, run.call.call_id, ref),
            self._parts.recorder.record(recording.ended(request, result, ref, time.monotonic() - began)),
        )
        return _outcome(result, ref) if first == ref else await self._replayed(first)

    async def _prepared(self, request: RunRequest) -> _Run | ToolResult:
        call = request.judged.call
        examined = await self._parts.examiner.examine(request.judged)
        if examined.tool is None:
            rule = examined.outcome.verdict.reasons[0].rule
            return outcomes.not_understood(call, examined.outcome.problem, rule, request.language)
        granted = grant(
            examined.outcome.verdict, request.approval, call.call_id, call.tool, examined.args, self._parts.now()
        )
        if isinstance(granted, Refused):
            return outcomes.denied(call, granted, request.language)
        demanded = examined.outcome.demands.runtime
        if demanded and request.lease is not None and request.lease.runtime != demanded:
            return outcomes.wrong_runtime(call, demanded, request.lease.runtime, request.language)
        return _Run(request, examined.tool, examined, _reachable(granted, request))

    async def _sandbox(self, run: _Run) -> Sandbox | None:
        if not run.tool.spec.needs_sandbox:
            return None
        if run.request.lease is None:
            raise SandboxLost(f"the call {run.call.call_id} came without the lease of a sandbox")
        try:
            sandbox = await self._parts.host.open(run.request.lease)
        except SandboxLost as error:
            # An earlier attempt may have begun, in the same sandbox.
            raise (refused(error) if activity.info().attempt == 1 else lost(error)) from error
        sandbox.permit(run.egress)
        return sandbox

    async def _begun(self, run: _Run) -> Begun | Done | InDoubt:
        call, task_id = run.call, run.request.judged.task_id
        place, earlier = _place(self._parts.host_id, run.request.lease), run.request.earlier
        # First, because the ledger takes a call that it knows for one that may have had its effect.
        await self._parts.recorder.record(recording.begun(run.request, run.examined.outcome.verdict, place))
        try:
            entry = await self._parts.ledger.begin(task_id, call.call_id, call.args_sha256, call.tool, place)
        except CallChanged as changed:
            raise ApplicationError(str(changed), type=CallChanged.__name__, non_retryable=True) from changed
        if isinstance(entry, Begun) and earlier is not None:
            # It may have begun on another host, whose ledger is there.
            return InDoubt(started_at=earlier.at, host=_place("", earlier.lease))
        return entry

    async def _result(self, run: _Run, entry: Begun | InDoubt, sandbox: Sandbox | None, pulse: Pulse) -> ToolResult:
        language = run.request.language
        if not isinstance(entry, Begun) and not _may_run_again(run, entry, self._parts.host_id):
            return outcomes.uncertain(run.call, entry.started_at, language)
        context = ToolContext(
            task_id=run.request.judged.task_id,
            call_id=run.call.call_id,
            user_id=run.request.judged.actor.user_id,
            language=language,
            blobs=RedactingBlobs(self._parts.blobs, self._parts.redact),
            beat=pulse.beat,
            open_sandbox=sandbox,
            egress=run.egress,
            tainted=run.request.judged.tainted,
        )
        limit = run.examined.outcome.timeout_seconds
        result = await run_safely(run.tool, run.call, run.examined.args, context, limit, self._parts.redact)
        return redacted(result, self._parts.redact)

    async def _stored(self, result: ToolResult) -> BlobRef:
        return await self._parts.blobs.put(result.model_dump_json().encode())

    async def _replayed(self, ref: BlobRef) -> RunOutcome:
        result = ToolResult.model_validate_json(await self._parts.blobs.get(ref))
        return _outcome(result, ref).model_copy(update={"replayed": True})


def _outcome(result: ToolResult, ref: BlobRef) -> RunOutcome:
    turn = ToolTurn(
        call_id=result.call_id,
        tool=result.tool,
        ok=result.ok,
        headline=result.headline,
        result_ref=ref,
        error=result.error,
    )
    return RunOutcome(turn=turn, provenance=result.provenance, files=result.files, send=result.send)


def _reachable(granted: Granted, request: RunRequest) -> tuple[HostGrant, ...]:
    return tuple(dict.fromkeys((*granted.egress, *request.judged.approved_hosts)))


def _place(host_id: str, lease: Lease | None) -> str:
    return host_id if lease is None else f"{lease.host_id}/{lease.sandbox_id}/{lease.epoch}"


def _may_run_again(run: _Run, entry: InDoubt, host_id: str) -> bool:
    if not run.tool.spec.repeatable:
        return False
    # A command runs once per call id only inside the sandbox that remembers the call id.
    commands = any(isinstance(action, CommandAction) for action in run.tool.actions(run.examined.args))
    return not commands or entry.host == _place(host_id, run.request.lease)


def _is_handed_over() -> bool:
    """True unless somebody wants the work to end: after a shutdown or a lost heartbeat another attempt takes it up."""
    details = activity.cancellation_details()
    return details is not None and not (details.cancel_requested or details.paused)
