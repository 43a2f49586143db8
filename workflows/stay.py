"""The state of one sandbox: what changes, what is due if nobody needs it, what is shown, what crosses a
continue-as-new."""

from datetime import datetime, timedelta
from typing import Any, Literal

from temporalio import workflow
from temporalio.common import SearchAttributeUpdate

from contracts import search
from contracts.activities import Acquired, AcquireRequest
from contracts.lifecycle import (
    COMING_STATES,
    HELD_STATES,
    Answered,
    SandboxCarry,
    SandboxInput,
    SandboxState,
    SandboxView,
    Transition,
    WaitingNotice,
)
from contracts.sandbox import Lease, Snapshot
from workflows.limits import SNAPSHOTS_KEPT, TRANSITIONS_SHOWN

Step = Literal["save", "freeze", "sleep", "reclaim"]


class Stay:
    """Mutable, and only ever changed by the workflow's own loop and signals."""

    def __init__(self, given: SandboxInput) -> None:
        now = workflow.now()
        first = given.snapshots[0].digest if given.snapshots else None
        carry = given.carry or SandboxCarry(
            state=SandboxState.ASLEEP if first else SandboxState.LEASING,
            since=now,
            touched=now,
            snapshots=given.snapshots,
            head=first,
            existed=first is not None,
        )
        self.given = given
        self.state = carry.state
        self.since = carry.since
        self.touched = carry.touched
        self.lease: Lease | None = carry.lease
        self.epoch = carry.epoch
        self.snapshots = list(carry.snapshots)
        self.head = carry.head
        self.egress = carry.egress
        self.image = carry.image
        self.runtime = carry.runtime
        self.working = carry.working
        self.waiting = carry.waiting
        self.ended = carry.ended
        self.existed = carry.existed
        self.wanted = carry.wanted
        self.saved_as = carry.saved_as
        self.restored: Snapshot | None = carry.restored
        self.files_lost = carry.files_lost
        self.problem = carry.problem
        self.answered: Answered | None = carry.answered
        self.history = list(carry.history)
        self.retention_days = carry.retention_days or given.lifetimes.retention_days
        self.taken_in = carry.taken_in.joined(given.taken_in)
        self.not_before: datetime | None = None
        self.over = False
        self.doubted = 0
        self._published = carry.state

    def carry(self) -> SandboxCarry:
        return SandboxCarry(
            state=self.state,
            since=self.since,
            touched=self.touched,
            lease=self.lease,
            epoch=self.epoch,
            snapshots=tuple(self.snapshots),
            head=self.head,
            egress=self.egress,
            image=self.image,
            runtime=self.runtime,
            working=self.working,
            waiting=self.waiting,
            ended=self.ended,
            existed=self.existed,
            wanted=self.wanted,
            saved_as=self.saved_as,
            restored=self.restored,
            files_lost=self.files_lost,
            problem=self.problem,
            answered=self.answered,
            history=tuple(self.history),
            retention_days=self.retention_days,
            taken_in=self.taken_in,
        )

    def view(self) -> SandboxView:
        due = self.due()
        return SandboxView(
            owner=self.given.owner,
            user_id=self.given.user_id,
            task_id=self.given.task_id,
            state=self.state,
            since=self.since,
            lease=self.lease,
            epoch=self.epoch,
            snapshots=tuple(self.snapshots),
            head=self.head,
            working=self.working,
            problem=self.problem,
            next_step=due[0] if due else "",
            next_at=due[1] if due else None,
            history=tuple(self.history),
            touched=self.touched,
            taken_in=self.taken_in,
        )

    def enter(self, state: SandboxState, why: str = "") -> None:
        """Go to a state and let the UI know; the states of coming are short, and only its page tells of them."""
        if state is self.state and not why:
            return
        self.state = state
        self.since = workflow.now()
        self.history = [*self.history, Transition(at=self.since, state=state, why=why)][-TRANSITIONS_SHOWN:]
        self.not_before = None
        if state is not self._published and (state not in COMING_STATES or state is SandboxState.QUEUED):
            self._published = state
            workflow.upsert_search_attributes(self._updates())
        self.show()

    def show(self) -> None:
        """Renew the page of details, which is served by query and costs no history."""
        workflow.set_current_details(details(self.view()))

    def due(self) -> tuple[Step, datetime] | None:
        """What happens by itself, and when, unless somebody needs the sandbox before."""
        step = self._next_step()
        if step is None:
            return None
        life = self.given.lifetimes
        after = {
            "save": timedelta(),
            "freeze": timedelta(seconds=life.pause_after_seconds),
            "sleep": timedelta() if self.ended else timedelta(seconds=life.idle_seconds),
            "reclaim": timedelta(days=self.retention_days),
        }[step]
        at = self.touched + after
        return step, at if self.not_before is None else max(at, self.not_before)

    def _next_step(self) -> Step | None:
        if self.lease is None:
            return "reclaim" if self.state in (SandboxState.ASLEEP, SandboxState.FAILED) else None
        if self.working or self.state not in HELD_STATES:
            return None
        if self.ended:
            return "sleep"
        if self.wanted:
            return "save"
        return "freeze" if self.waiting and self.state is SandboxState.ACTIVE else "sleep"

    def needed(self, request: AcquireRequest) -> None:
        """The task is at work again, and this is what it wants."""
        self.egress = tuple(dict.fromkeys((*self.egress, *request.egress)))
        self.image = request.image or self.image
        self.runtime = request.runtime or self.runtime
        self.retention_days = request.retention_days or self.retention_days
        self.taken_in = self.taken_in.joined(request.taken_in)
        self.working, self.waiting, self.ended, self.wanted = True, False, False, ""
        self.touched = workflow.now()
        self.existed = self.existed or request.lost_epoch > 0
        self.epoch = max(self.epoch, request.lost_epoch)

    def rests(self, notice: WaitingNotice) -> None:
        """Its task waits for a person."""
        self.working, self.waiting, self.wanted = False, True, notice.snapshot
        self.touched = workflow.now()

    def ends(self) -> None:
        """Its task is over."""
        self.working, self.ended = False, True
        self.touched = workflow.now()

    def used(self) -> None:
        """A person turned to it: it neither freezes nor sleeps at once because its task waits or has ended."""
        self.waiting, self.ended, self.saved_as = False, False, ""
        self.touched = workflow.now()

    def holds(self, lease: Lease, restored: Snapshot | None, why: str) -> None:
        """There is a sandbox again, from a snapshot or empty."""
        self.lease, self.epoch = lease, max(self.epoch, lease.epoch)
        self.restored = restored
        self.files_lost = restored is None and self.existed
        self.existed = True
        if restored is None or restored.digest != self.head:
            self.saved_as = ""
        self.head = restored.digest if restored else None
        self.touched = workflow.now()
        self.enter(SandboxState.ACTIVE, why)

    def lets_go(self, state: SandboxState, why: str = "") -> None:
        """It is on no host any more."""
        self.lease = None
        self.enter(state, why)

    def lose(self, why: str) -> None:
        """Its host or the sandbox itself is gone; what was saved remains."""
        self.problem = why
        self.saved_as = ""
        self.lets_go(SandboxState.ASLEEP if self.head else SandboxState.FAILED, why)

    def keeps(self, snapshot: Snapshot) -> None:
        """A state was saved; it is what the next waking begins with."""
        self.snapshots = [snapshot, *(each for each in self.snapshots if each != snapshot)][:SNAPSHOTS_KEPT]
        self.head = snapshot.digest

    def candidates(self) -> list[Snapshot]:
        """What to begin with: the head, then one after the other what was saved before it."""
        digests = [each.digest for each in self.snapshots]
        return self.snapshots[digests.index(self.head) :] if self.head in digests else []

    def find(self, which: str) -> Snapshot | None:
        """By name, or by the beginning of the digest; of several the newest."""
        for snapshot in self.snapshots:
            if snapshot.name == which or (len(which) >= 8 and snapshot.digest.startswith(which)):
                return snapshot
        return None

    def answer(self, request: AcquireRequest, saved: Snapshot | None) -> Acquired:
        """What a need gets; what became of the state is told once."""
        assert self.lease is not None  # noqa: S101  a need is answered only when there is one
        acquired = Acquired(
            lease=self.lease,
            restored=self.restored,
            files_lost=self.files_lost,
            snapshot=saved,
            problem=self.problem if self.restored or self.files_lost else "",
            taken_in=self.taken_in,
        )
        self.restored, self.files_lost, self.problem, self.saved_as = None, False, "", ""
        self.answered = Answered(request=request, acquired=acquired)
        return acquired

    def repeated(self, request: AcquireRequest) -> Acquired | None:
        """The answer to the same need, if it still holds."""
        if self.answered is None or self.answered.request != request or self.state is not SandboxState.ACTIVE:
            return None
        return self.answered.acquired if self.answered.acquired.lease == self.lease else None

    def _updates(self) -> list[SearchAttributeUpdate[Any]]:
        host = search.HOST_ID.value_set(self.lease.host_id) if self.lease else search.HOST_ID.value_unset()
        return [
            search.SANDBOX_STATE.value_set(self.state.value),
            search.USER_ID.value_set(self.given.user_id),
            host,
        ]


def details(view: SandboxView) -> str:
    """The page in Temporal's Markdown: where it is, what happens next, its snapshots and its past."""
    lines = [f"**Sandbox of {view.owner}**", "", f"State: `{view.state}` since {view.since:%Y-%m-%d %H:%M:%S}"]
    if view.lease is not None:
        lease = view.lease
        lines += ["", f"On host `{lease.host_id}` as `{lease.sandbox_id}`, {lease.runtime}, epoch {lease.epoch}"]
    if view.next_at is not None:
        lines += ["", f"Without need: {view.next_step} at {view.next_at:%Y-%m-%d %H:%M:%S}"]
    if view.problem:
        lines += ["", f"Problem: {view.problem}"]
    lines += ["", *(f"- snapshot `{each.digest[:12]}` {each.name} {each.created_at:%F %T}" for each in view.snapshots)]
    lines += ["", *(f"- {each.at:%F %T} {each.state} {each.why}".rstrip() for each in view.history)]
    return "\n".join(lines)
