"""Judges a call once more right before it runs, and holds it against the yes that it came with."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from temporalio import activity

from activities import outcomes
from activities.examining import Examined, Examiner
from activities.failures import lost, refused
from activities.granting import Granted, Refused, grant
from activities.metering import Meters
from activities.provenance.tracing import given
from activities.resolving import fingerprint_of
from activities.tool import Tool
from contracts.activities import RunRequest
from contracts.approvals import Bound, StepUp, approval_purpose, with_operands
from contracts.messages import HostGrant
from contracts.provenance import Provenance
from contracts.sandbox import FileRefused, Host, Lease, Sandbox, SandboxLost
from contracts.task import Approval
from contracts.texts import approvals as texts
from contracts.tools import ToolCall, ToolResult
from contracts.verdicts import Ask

Confirmed = Callable[[StepUp | None, str, datetime], bool]
"""Whether the second factor has confirmed this purpose. It may block."""


@dataclass(frozen=True)
class Run:
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


class Preparing:
    """Nothing of a call has begun while it is here."""

    def __init__(
        self, examiner: Examiner, meters: Meters, host: Host, confirmed: Confirmed, now: Callable[[], datetime]
    ) -> None:
        self._examiner = examiner
        self._meters = meters
        self._host = host
        self._confirmed = confirmed
        self._now = now

    async def prepared(self, request: RunRequest) -> Run | ToolResult:
        """What may run, or what to say instead. Raises: ApplicationError of type SandboxRefused or SandboxLost."""
        call = request.judged.call
        examined = await self._examiner.examine(request.judged, again=True)
        if examined.tool is None:
            rule = examined.outcome.verdict.reasons[0].rule
            return outcomes.not_understood(call, examined.outcome.problem, rule, request.language)
        granted = await self._granted(request, examined)
        if isinstance(granted, Refused):
            await self.give_back(examined)
            return outcomes.denied(call, granted, request.language)
        demanded = examined.outcome.demands.runtime
        if demanded and request.lease is not None and request.lease.runtime != demanded:
            await self.give_back(examined)
            return outcomes.wrong_runtime(call, demanded, request.lease.runtime, request.language)
        if examined.use is not None and isinstance(examined.outcome.verdict, Ask):
            await self._meters.insist(examined.use)
        return Run(request, examined.tool, examined, _reachable(granted, request), granted.approval)

    async def opened(self, lease: Lease) -> Sandbox:
        """Raises: ApplicationError of type SandboxRefused or SandboxLost."""
        try:
            return await self._host.open(lease)
        except SandboxLost as error:
            # An earlier attempt may have begun, in the same sandbox.
            raise (refused(error) if activity.info().attempt == 1 else lost(error)) from error

    async def _granted(self, request: RunRequest, examined: Examined) -> Granted | Refused:
        outcome, approval, now = examined.outcome, request.approval, self._now()
        if outcome.bound is None:
            raise LookupError(f"the call {request.judged.call.call_id} was judged without what it is bound to")
        bound, confirmed = outcome.bound, False
        if isinstance(outcome.verdict, Ask) and approval is not None:
            try:
                bound = await self._with_files(bound, outcome.operands, request.lease)
            except FileRefused:
                return Refused(texts.FILES_UNCLEAR)
            purpose = approval_purpose(approval.approval_id, approval.digest)
            confirmed = await asyncio.to_thread(self._confirmed, request.step_up, purpose, now)
        return grant(outcome.verdict, approval, request.judged.call.call_id, bound, now, confirmed=confirmed)

    async def _with_files(self, bound: Bound, operands: tuple[str, ...], lease: Lease | None) -> Bound:
        if not operands or lease is None:
            return with_operands(bound, operands)
        sandbox = await self.opened(lease)
        found = await fingerprint_of(sandbox.files, operands)
        return with_operands(bound, operands, found.real, found.content)

    async def give_back(self, examined: Examined) -> None:
        """What a call that does not run had reserved."""
        if examined.use is not None:
            await self._meters.give_back(examined.use)


def _reachable(granted: Granted, request: RunRequest) -> tuple[HostGrant, ...]:
    return tuple(dict.fromkeys((*granted.egress, *request.judged.approved_hosts)))
