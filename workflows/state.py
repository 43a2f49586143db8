"""The state of a running task: what changes, what is shown of it, and what crosses a continue-as-new."""

import re
from datetime import datetime

from contracts.messages import Attachment, HostGrant
from contracts.planning import Usage
from contracts.provenance import TakenIn
from contracts.sandbox import Lease
from contracts.task import (
    Approval,
    Asked,
    Carry,
    Decision,
    Failure,
    Phase,
    StepView,
    TaskInput,
    TaskRecord,
    TaskResult,
    TaskStatus,
)
from contracts.transcript import Turn, UserTurn
from workflows.limits import SEEN_IDS, STEPS_SHOWN

_FRACTION = re.compile(r"\d+\.\d+")


class TaskState:
    """Mutable, and only ever changed by the workflow's own loop and handlers."""

    def __init__(self, given: TaskInput, *, is_reset: bool = False) -> None:
        """`is_reset` says that an earlier run of this task has gone further than this one knows."""
        carry = given.carry or Carry(
            additions=(given.request,), approved_hosts=given.grants, budget_usd=given.limits.budget_usd
        )
        self.given = given
        self.phase = Phase.QUEUED
        self.transcript_ref = carry.transcript_ref
        self.additions: list[Turn] = list(carry.additions)
        self.step = carry.step
        self.seen_ids = list(carry.seen_ids)
        self.lease: Lease | None = carry.lease
        self.epoch = carry.epoch
        self.needs = carry.needs
        self.resting = carry.resting
        self.in_use = 0
        self.save_as = ""
        self.paused = carry.paused
        self.usage: Usage = carry.usage
        self.budget_usd = carry.budget_usd
        self.spoken_hosts = carry.spoken_hosts
        self.approved_hosts: tuple[HostGrant, ...] = carry.approved_hosts
        self.tainted = carry.tainted or given.taken_in.foreign
        self.private = carry.private or given.taken_in.private
        self.is_reset = is_reset
        self.files: list[Attachment] = list(carry.files)
        self.lines: dict[str, StepView] = {f"carried-{index}": line for index, line in enumerate(carry.steps)}
        self.failures: dict[tuple[str, str], int] = {(f.args_sha256, f.error): f.count for f in carry.failures}
        self.risk_score = carry.risk_score
        self.sequence = carry.sequence
        self.retry_count = given.record.retry_count
        self.beyond = carry.beyond
        self.interrupted = False
        self.approval: Approval | None = None
        self.decision: Decision | None = None
        self.asked: Asked | None = None
        self.answer_turn: UserTurn | None = None
        self.notes: list[str] = list(carry.notes)
        self.denied_aims: dict[str, int] = dict(carry.denied_aims)
        self.closing = False
        self.result: TaskResult | None = None

    def taken_in(self) -> TakenIn:
        """By the task and its sandbox; what a reset made the task forget still lies in the sandbox that it had.

        It goes into what is sent and decides no command: what came before a reset is replayed as it was then.
        """
        forgotten = self.is_reset and self.needs > 0
        return self.noticed().joined(TakenIn(foreign=forgotten, private=forgotten))

    def noticed(self) -> TakenIn:
        """What the task itself knows to have taken in."""
        return TakenIn(foreign=self.tainted, private=self.private)

    def takes_in(self, other: TakenIn) -> None:
        """Never less than before."""
        self.tainted = self.tainted or other.foreign
        self.private = self.private or other.private

    def changed(self) -> None:
        """Say that something a person sees is different now."""
        self.sequence += 1

    def enter(self, phase: Phase) -> bool:
        """Go to a phase; gives whether it is another one."""
        if phase is self.phase:
            return False
        self.phase = phase
        self.changed()
        return True

    def put_approval(self, approval: Approval | None) -> None:
        """Open or close the one question whose answer is yes or no."""
        self.approval = approval
        self.decision = None
        self.changed()

    def put_question(self, asked: Asked | None) -> None:
        """Open or close the one question whose answer is words."""
        self.asked = asked
        self.answer_turn = None
        self.changed()

    def seen(self, message_id: str | None) -> bool:
        """Whether this id was applied before; if not, it counts as applied from now on."""
        if message_id is None:
            return False
        if message_id in self.seen_ids:
            return True
        self.seen_ids = [*self.seen_ids, message_id][-SEEN_IDS:]
        return False

    def show_step(self, key: str, line: StepView) -> None:
        """Put one line into the progress list, or in place of the line with the same key."""
        self.lines[key] = line
        while len(self.lines) > STEPS_SHOWN:
            del self.lines[next(iter(self.lines))]
        self.changed()

    def count_failure(self, args_sha256: str, error: str) -> int:
        """How often this call has now failed in this way."""
        # How long it took differs each time, and makes it no other failure.
        key = (args_sha256, _FRACTION.sub("…", error))
        self.failures[key] = self.failures.get(key, 0) + 1
        return self.failures[key]

    def forget_failures(self) -> None:
        """Start counting anew, since the person has said how to go on."""
        self.failures.clear()

    def record(self) -> TaskRecord:
        return self.given.record.model_copy(
            update={
                "status": self.phase,
                "risk_score": self.risk_score,
                "requires_human_approval": self.approval is not None,
                "retry_count": self.retry_count,
            }
        )

    def status(self) -> TaskStatus:
        result = self.result
        return TaskStatus(
            record=self.record(),
            goal=self.given.goal,
            phase=self.phase,
            step=self.step,
            steps=tuple(self.lines.values()),
            approval=self.approval,
            asked=self.asked,
            answer=result.answer if result else "",
            answer_ref=result.answer_ref if result else None,
            outcome=result.outcome if result else None,
            files=tuple(self.files),
            usage=self.usage,
            lease=self.lease,
            notes=tuple(self.notes),
            sequence=self.sequence,
            language=self.given.language,
            taken_in=self.taken_in(),
        )

    def carry(self) -> Carry:
        return Carry(
            transcript_ref=self.transcript_ref,
            additions=tuple(self.additions),
            step=self.step,
            seen_ids=tuple(self.seen_ids),
            lease=self.lease,
            epoch=self.epoch,
            paused=self.paused,
            usage=self.usage,
            budget_usd=self.budget_usd,
            spoken_hosts=self.spoken_hosts,
            approved_hosts=self.approved_hosts,
            tainted=self.taken_in().foreign,
            files=tuple(self.files),
            steps=tuple(self.lines.values()),
            failures=tuple(Failure(args_sha256=k[0], error=k[1], count=n) for k, n in self.failures.items()),
            risk_score=self.risk_score,
            sequence=self.sequence,
            needs=self.needs,
            resting=self.resting,
            notes=tuple(self.notes),
            beyond=self.beyond,
            denied_aims=dict(self.denied_aims),
            private=self.taken_in().private,
        )

    def waits_for_person(self) -> bool:
        """Whether nothing goes on until somebody decides, answers or resumes."""
        return self.approval is not None or self.asked is not None or self.paused

    def past(self, now: datetime) -> bool:
        """Whether the task's deadline is over."""
        deadline = self.given.record.deadline
        return deadline is not None and now >= deadline
