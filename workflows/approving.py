"""Brings calls before a person: binds each to what it would do, asks on as few cards as can be, and remembers a no."""

import asyncio
from dataclasses import dataclass

from temporalio import workflow
from temporalio.exceptions import ActivityError, is_cancelled_exception

from contracts.activities import Acting, Fingerprint, FingerprintRequest, JudgeOutcome
from contracts.approvals import Bound, StepUp, with_operands
from contracts.messages import HostGrant
from contracts.sandbox import Lease
from contracts.task import Approval, Decision
from contracts.tools import ToolCall
from contracts.verdicts import Ask
from workflows import limits
from workflows.asking import Asking
from workflows.carding import Put
from workflows.failures import is_gone
from workflows.state import TaskState
from workflows.workplace import Workplace

DENIALS = 2
"""After so many times no to one aim nothing that is after it is asked or tried any more."""

GAVE_UP = "stops_trying"
"""The note by which the person learns of it."""


Answer = tuple[Approval, Decision | None]
"""The card that was put, and what was decided; None if nobody did so in time."""


@dataclass(frozen=True)
class Cleared:
    """A judged call; where it is asked about, what was put, and the answer to come, which others may share."""

    judged: JudgeOutcome
    put: Put | None = None
    answer: asyncio.Task[Answer] | None = None


@dataclass(frozen=True)
class Leave:
    """With what a call may run: the yes to it, and the hosts that were open when it was asked about."""

    hosts: tuple[HostGrant, ...] | None = None
    """None is all that are open by then."""
    approval: Approval | None = None
    step_up: StepUp | None = None


class Approving:
    """One for a task."""

    def __init__(self, state: TaskState, asking: Asking, workplace: Workplace) -> None:
        self._state = state
        self._asking = asking
        self._workplace = workplace
        self._open: set[asyncio.Task[Answer]] = set()

    async def put(self, call: ToolCall, judged: JudgeOutcome, verdict: Ask, hosts: tuple[HostGrant, ...]) -> Put:
        """Bind the question to the call and the files that it would run or send, as they are now.

        Raises: TaskEnded if the sandbox is gone, there is no other, and the person gives up.
        """
        bound = judged.bound or Bound(tool=call.tool, args_sha256=call.args_sha256)
        found = await self._looked_at(judged.operands) if judged.operands and self._state.lease else None
        content = (found.real, found.content) if found else ()
        return Put(call, judged, verdict, with_operands(bound, judged.operands, *content), hosts)

    def begin(self, puts: list[Put]) -> asyncio.Task[Answer]:
        """Ask about all of them on one card, while other calls go on."""
        asked = asyncio.create_task(self._ask(puts))
        self._open.add(asked)
        return asked

    async def withdraw(self) -> None:
        """Take back every question that nobody waits for any more."""
        for asked in self._open:
            asked.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)
        self._open.clear()

    def given_up(self, verdict: Ask) -> str:
        """The aim of this call that the person has denied too often; empty if there is none."""
        denied = self._state.denied_aims
        return next((aim for aim in verdict.aim.splitlines() if denied.get(aim, 0) >= DENIALS), "")

    async def _ask(self, puts: list[Put]) -> Answer:
        for put in puts:
            self._workplace.save_while_waiting(put.judged.demands)
        approval, decision = await self._asking.approval(puts)
        if decision is not None and decision.approve:
            self._state.approved_hosts = (*self._state.approved_hosts, *approval.egress)
        if decision is not None:
            self._remember(approval, approve=decision.approve)
        return approval, decision

    def _remember(self, approval: Approval, *, approve: bool) -> None:
        """A yes wipes out what was denied before: the person has changed their mind."""
        denied = self._state.denied_aims
        for aim in approval.aim.splitlines():
            if approve:
                denied.pop(aim, None)
            else:
                denied[aim] = denied.get(aim, 0) + 1
                if denied[aim] == DENIALS and GAVE_UP not in self._state.notes:
                    self._state.notes.append(GAVE_UP)

    async def _looked_at(self, operands: tuple[str, ...]) -> Fingerprint | None:
        """None if they cannot be looked at: then the call finds them different, and the person is asked once more."""
        lease = await self._workplace.lease()
        try:
            return await self._fingerprint(lease, operands)
        except ActivityError as error:
            if is_cancelled_exception(error):
                raise
            if is_gone(error):
                self._workplace.lost(lease)
            return None
        finally:
            self._workplace.done()

    async def _fingerprint(self, lease: Lease, operands: tuple[str, ...]) -> Fingerprint:
        return await workflow.execute_activity_method(
            Acting.fingerprint,
            FingerprintRequest(lease=lease, paths=operands),
            task_queue=lease.task_queue,
            start_to_close_timeout=limits.HOST_QUICK,
            schedule_to_start_timeout=limits.HOST_WAIT,
            retry_policy=limits.HOST_RETRY,
            summary=f"look at {len(operands)} files",
        )
