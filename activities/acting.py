"""The activity `run_tool`: judge once more, journal, act in the sandbox, and give a result small enough for history."""

import asyncio
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from temporalio import activity
from temporalio.exceptions import ApplicationError

from activities import outcomes, recording
from activities.beat import Pulse, alive
from activities.examining import Examined, Examiner
from activities.failures import halted, lost, refused
from activities.granting import Granted, Refused, grant
from activities.ledger import Ledger
from activities.metering import Meters
from activities.provenance.contacts import Contacts
from activities.provenance.tracing import destinations_in, given
from activities.redaction import Redact, RedactingBlobs, redacted
from activities.resolving import fingerprint_of, led_elsewhere
from activities.running import run_safely
from activities.tool import Tool, ToolContext
from contracts import activities
from contracts.activities import Fingerprint, FingerprintRequest, RunOutcome, RunRequest
from contracts.approvals import Bound, StepUp, approval_purpose, with_operands
from contracts.audit import NoRecord, Recorder
from contracts.blobs import BlobRef, Blobs
from contracts.kill import Brake, FreeRunning, Halted
from contracts.ledger import Begun, CallChanged, Done, InDoubt
from contracts.messages import HostGrant
from contracts.provenance import Provenance
from contracts.sandbox import FileRefused, Host, Lease, Sandbox, SandboxLost
from contracts.task import Approval
from contracts.texts import approvals as approval_texts
from contracts.tools import ToolCall, ToolResult
from contracts.transcript import ToolTurn
from contracts.usage import Unmetered
from contracts.verdicts import Ask, CommandAction
from sandbox.braking import braked


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
    confirmed: Callable[[StepUp | None, str, datetime], bool] = lambda _step_up, _purpose, _now: False
    """Whether the second factor has confirmed this purpose."""
    meters: Meters | None = None
    contacts: Contacts | None = None
    """Keeps where a person has let something go; without it every destination is asked about anew."""
    brake: Brake = field(default_factory=FreeRunning)
    recorder: Recorder = field(default_factory=NoRecord)


@dataclass(frozen=True)
class _Run:
    """A call that may run: found, judged, and granted."""

    request: RunRequest
    tool: Tool
    examined: Examined
    egress: tuple[HostGrant, ...]
    approval: Approval | None = None
    """The one that it uses up."""

    @property
    def call(self) -> ToolCall:
        return self.request.judged.call

    @property
    def given(self) -> Provenance:
        """Of the arguments together."""
        return self.examined.given or given(self.call, (), tainted=self.request.judged.tainted)


class Acting(activities.Acting):
    """Nothing acts but through here."""

    def __init__(self, parts: ActingParts) -> None:
        self._parts = parts
        self._meters = parts.meters or Meters(Unmetered(), parts.now)

    @activity.defn(name="run_tool")
    async def run_tool(self, request: RunRequest) -> RunOutcome:
        """Raises: ApplicationError of type SandboxLost or SandboxRefused, not to be retried with the same lease, or
        Halted."""
        pulse = Pulse(activity.heartbeat)
        try:
            return await alive(self._outcome(request, pulse), pulse, _is_handed_over)
        except SandboxLost as error:
            raise lost(error) from error

    @activity.defn(name="fingerprint")
    async def fingerprint(self, request: FingerprintRequest) -> Fingerprint:
        """Raises: ApplicationError of type SandboxLost, or FileRefused, neither to be retried."""
        try:
            sandbox = await self._parts.host.open(request.lease)
            return await fingerprint_of(sandbox.files, request.paths)
        except SandboxLost as error:
            raise lost(error) from error
        except FileRefused as error:
            raise ApplicationError(str(error), type=FileRefused.__name__, non_retryable=True) from error

    async def _outcome(self, request: RunRequest, pulse: Pulse) -> RunOutcome:
        self._heed(request)
        run = await self._prepared(request)
        if isinstance(run, ToolResult):
            came_from = given(request.judged.call, (), tainted=request.judged.tainted)
            refused = redacted(echoing(run, came_from), self._parts.redact)
            await self._parts.recorder.record(recording.refused(request, refused))
            return _outcome(refused, await self._stored(refused))
        if not await self._used(run):
            spent = outcomes.denied(run.call, Refused(approval_texts.USED), request.language)
            await self._parts.recorder.record(recording.refused(request, spent))
            return _outcome(spent, await self._stored(spent))
        sandbox = await self._sandbox(run)
        self._heed(request)
        entry = await self._begun(run)
        if isinstance(entry, Done):
            await self._parts.recorder.record(recording.replayed(request, entry.result_ref))
            return await self._replayed(entry.result_ref)
        began = time.monotonic()
        result = await self._while_free(self._result(run, entry, sandbox, pulse), request)
        ref = await self._stored(result)
        await self._note_where_it_went(run, result)
        first, _ = await asyncio.gather(
            self._parts.ledger.finish(request.judged.task_id, run.call.call_id, ref),
            self._parts.recorder.record(recording.ended(request, result, ref, time.monotonic() - began)),
        )
        return _outcome(result, ref) if first == ref else await self._replayed(first)

    def _heed(self, request: RunRequest) -> None:
        """Nothing of the call has begun. Raises: ApplicationError of type Halted."""
        kill = self._parts.brake.halted("tool", request.judged.task_id)
        if kill is not None:
            raise halted(Halted(kill))

    async def _while_free(self, running: Coroutine[Any, Any, ToolResult], request: RunRequest) -> ToolResult:
        """End the tool, its command and its browser as soon as the kill switch is pulled."""
        try:
            return await braked(running, lambda: self._parts.brake.halted("tool", request.judged.task_id))
        except Halted as error:
            raise halted(error, begun=True) from error

    async def _prepared(self, request: RunRequest) -> _Run | ToolResult:
        call = request.judged.call
        examined = await self._parts.examiner.examine(request.judged, again=True)
        if examined.tool is None:
            rule = examined.outcome.verdict.reasons[0].rule
            return outcomes.not_understood(call, examined.outcome.problem, rule, request.language)
        granted = await self._granted(request, examined)
        if isinstance(granted, Refused):
            await self._give_back(examined)
            return outcomes.denied(call, granted, request.language)
        demanded = examined.outcome.demands.runtime
        if demanded and request.lease is not None and request.lease.runtime != demanded:
            await self._give_back(examined)
            return outcomes.wrong_runtime(call, demanded, request.lease.runtime, request.language)
        if examined.use is not None and isinstance(examined.outcome.verdict, Ask):
            await self._meters.insist(examined.use)
        return _Run(request, examined.tool, examined, _reachable(granted, request), granted.approval)

    async def _granted(self, request: RunRequest, examined: Examined) -> Granted | Refused:
        """Raises: ApplicationError of type SandboxRefused or SandboxLost."""
        outcome, approval, now = examined.outcome, request.approval, self._parts.now()
        if outcome.bound is None:
            raise LookupError(f"the call {request.judged.call.call_id} was judged without what it is bound to")
        bound, confirmed = outcome.bound, False
        if isinstance(outcome.verdict, Ask) and approval is not None:
            try:
                bound = await self._with_files(bound, outcome.operands, request.lease)
            except FileRefused:
                return Refused(approval_texts.FILES_UNCLEAR)
            purpose = approval_purpose(approval.approval_id, approval.digest)
            confirmed = await asyncio.to_thread(self._parts.confirmed, request.step_up, purpose, now)
        return grant(outcome.verdict, approval, request.judged.call.call_id, bound, now, confirmed=confirmed)

    async def _with_files(self, bound: Bound, operands: tuple[str, ...], lease: Lease | None) -> Bound:
        if not operands or lease is None:
            return with_operands(bound, operands)
        sandbox = await self._opened(lease)
        found = await fingerprint_of(sandbox.files, operands)
        return with_operands(bound, operands, found.real, found.content)

    async def _opened(self, lease: Lease) -> Sandbox:
        try:
            return await self._parts.host.open(lease)
        except SandboxLost as error:
            # An earlier attempt may have begun, in the same sandbox.
            raise (refused(error) if activity.info().attempt == 1 else lost(error)) from error

    async def _give_back(self, examined: Examined) -> None:
        if examined.use is not None:
            await self._meters.give_back(examined.use)

    async def _sandbox(self, run: _Run) -> Sandbox | None:
        if not run.tool.spec.needs_sandbox:
            return None
        if run.request.lease is None:
            raise SandboxLost(f"the call {run.call.call_id} came without the lease of a sandbox")
        sandbox = await self._opened(run.request.lease)
        sandbox.permit(run.egress, run.request.judged.actor.role)
        return sandbox

    async def _used(self, run: _Run) -> bool:
        """Whether the call may have its approval, which nothing else then has."""
        if run.approval is None:
            return True
        approval, task_id = run.approval, run.request.judged.task_id
        ledger = self._parts.ledger
        return await ledger.use_approval(task_id, approval.approval_id, run.call.call_id, approval.digest)

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
        moved = await led_elsewhere(run.examined, run.request.judged, sandbox, self._parts.examiner, language)
        if moved is not None:
            # An earlier attempt may itself have put the link there.
            return moved if isinstance(entry, Begun) else outcomes.uncertain(run.call, entry.started_at, language)
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
            private=run.request.judged.private,
            given=run.given,
            browser=await self._parts.examiner.browsing(run.request.judged.actor.role),
        )
        limit = run.examined.outcome.timeout_seconds
        result = await run_safely(run.tool, run.call, run.examined.args, context, limit, self._parts.redact)
        return redacted(echoing(result, run.given), self._parts.redact)

    async def _note_where_it_went(self, run: _Run, result: ToolResult) -> None:
        """What a person has let go somewhere may go there again without their looking for who named the place."""
        asked = run.request.approval is not None and isinstance(run.examined.outcome.verdict, Ask)
        places = destinations_in(run.examined.arguments)
        if self._parts.contacts is not None and asked and result.ok and places:
            judged = run.request.judged
            await self._parts.contacts.of(judged.actor.user_id).approve(places, task_id=judged.task_id)

    async def _stored(self, result: ToolResult) -> BlobRef:
        return await self._parts.blobs.put(result.model_dump_json().encode())

    async def _replayed(self, ref: BlobRef) -> RunOutcome:
        result = ToolResult.model_validate_json(await self._parts.blobs.get(ref))
        return _outcome(result, ref).model_copy(update={"replayed": True})


def echoing(result: ToolResult, given: Provenance) -> ToolResult:
    """A result can repeat what the call was given, and is then somebody else's word as well."""
    if given.trusted:
        return result
    return result.model_copy(update={"provenance": result.provenance.joined(given)})


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
