"""The task's place to work: asked for on first need and after each wait, replaced when it is lost, left at the end."""

import asyncio

from temporalio import workflow
from temporalio.exceptions import ActivityError, ApplicationError, is_cancelled_exception

from contracts.activities import Acquired, AcquireRequest, Demands, Placing
from contracts.lifecycle import WaitingNotice
from contracts.provenance import TakenIn
from contracts.queues import CONTROL, sandbox_workflow_id
from contracts.sandbox import Lease, Snapshot
from contracts.task import Phase
from contracts.texts import task as texts
from contracts.transcript import NoteTurn
from workflows import limits
from workflows.asking import Asking
from workflows.failures import reason_of
from workflows.halting import Halting
from workflows.state import TaskState
from workflows.visibility import Visibility

NONE = Demands()


class Workplace:
    """One sandbox, whose own workflow keeps it. While calls run one after the other it costs nothing to have it; it is
    let rest while the task waits for a person, and asked for again before the next call."""

    def __init__(self, state: TaskState, visibility: Visibility, asking: Asking, halting: Halting) -> None:
        self._state = state
        self._visibility = visibility
        self._asking = asking
        self._halting = halting
        self._turn = asyncio.Lock()
        self._watching: list[asyncio.Task[None]] = []
        self._told = TakenIn()
        """What the sandbox has been told that its task has taken in."""
        self._saved_step = 0

    def begin(self) -> None:
        """Watch from now on for waits, and for what the task takes in."""
        self._watching = [
            asyncio.create_task(self._rest_while_waiting()),
            asyncio.create_task(self._say_what_is_taken_in()),
        ]

    async def lease(self, demands: Demands = NONE) -> Lease:
        """The sandbox of this task, in use until `done`. Raises: TaskEnded if there is none and the person gives up."""
        async with self._turn:
            while (lease := self._ready(demands)) is None:
                await self._halting.passed()
                before = self._state.phase
                self._visibility.enter(Phase.LEASING)
                await self._acquire(demands)
                self._visibility.enter(before)
            self._state.in_use += 1
            return lease

    def done(self) -> None:
        """A call uses it no more."""
        self._state.in_use -= 1

    def lost(self, lease: Lease) -> None:
        """Note that a sandbox is gone, once, however many calls notice it; what is left of it is seen at the next
        need."""
        if self._state.lease is not None and self._state.lease.epoch == lease.epoch:
            self._state.lease = None
            self._state.changed()

    def save_while_waiting(self, demands: Demands) -> None:
        """The call that a person is asked about wants the state saved first: there is time for it now."""
        if demands.snapshot and self._saved_step != self._state.step:
            self._state.save_as = self._name()

    async def leave(self) -> None:
        """Its task needs it no more."""
        for watching in self._watching:
            watching.cancel()
        if self._state.needs:
            if news := self._news():
                await self._tell("takes_in", news)
            await self._tell("ended")

    def _ready(self, demands: Demands) -> Lease | None:
        lease = self._state.lease
        if lease is None or self._state.resting:
            return None
        if demands.runtime not in (None, lease.runtime) or (demands.snapshot and self._saved_step != self._state.step):
            return None
        return lease

    async def _acquire(self, demands: Demands) -> None:
        state = self._state
        state.needs += 1
        request = AcquireRequest(
            task_id=state.given.record.task_id,
            user_id=state.given.actor.user_id,
            number=state.needs,
            egress=state.approved_hosts,
            runtime=demands.runtime,
            lost_epoch=state.epoch if state.lease is None else 0,
            snapshot=self._name() if demands.snapshot and self._saved_step != state.step else "",
            retention_days=demands.retention_days,
            taken_in=state.taken_in(),
        )
        try:
            acquired = await workflow.execute_activity_method(
                Placing.acquire_sandbox,
                request,
                task_queue=CONTROL,
                start_to_close_timeout=limits.ACQUIRE_ATTEMPT,
                heartbeat_timeout=limits.ACQUIRE_HEARTBEAT,
                retry_policy=limits.ACQUIRE_RETRY,
                summary="get the sandbox",
            )
        except ActivityError as error:
            if is_cancelled_exception(error):
                raise
            if self._halting.notes(error):
                return
            language = state.given.language
            reason = reason_of(error)
            await self._asking.go_on(
                texts.NO_SANDBOX.say(language, reason=reason), texts.TRY_AGAIN.say(language), reason
            )
            return
        self._take(acquired, demands)

    def _take(self, acquired: Acquired, demands: Demands) -> None:
        state = self._state
        state.lease, state.epoch, state.resting, state.save_as = acquired.lease, acquired.lease.epoch, False, ""
        self._told = acquired.taken_in
        state.takes_in(acquired.taken_in)
        if demands.snapshot:
            self._saved_step = state.step
        note = _note(acquired)
        if note is not None:
            state.additions.append(note)
            if not _goes_on(acquired):
                state.notes.append(note.code)
                state.changed()

    async def _rest_while_waiting(self) -> None:
        """Tell the sandbox once each time that the task waits for a person and no call runs."""
        while True:
            await workflow.wait_condition(self._may_rest)
            async with self._turn:
                if self._may_rest():
                    self._state.resting = True
                    await self._tell("waiting", WaitingNotice(snapshot=self._state.save_as))

    async def _say_what_is_taken_in(self) -> None:
        """The sandbox outlives its task, can be forked, and must know what may lie in it."""
        while True:
            await workflow.wait_condition(lambda: self._state.lease is not None and self._news() is not None)
            async with self._turn:
                if news := self._news():
                    self._told = self._told.joined(news)
                    await self._tell("takes_in", news)

    def _news(self) -> TakenIn | None:
        taken = self._state.noticed()
        return None if taken.joined(self._told) == self._told else taken

    def _may_rest(self) -> bool:
        state = self._state
        return (
            state.lease is not None
            and not state.resting
            and not state.in_use
            and not state.closing
            and state.waits_for_person()
        )

    async def _tell(self, signal: str, *notice: WaitingNotice | TakenIn) -> None:
        """A sandbox that is gone need not be told."""
        handle = workflow.get_external_workflow_handle(sandbox_workflow_id(self._state.given.record.task_id))
        try:
            await handle.signal(signal, args=notice)
        except ApplicationError as error:
            workflow.logger.info("the sandbox has not heard that the task is %s: %s", signal, error)

    def _name(self) -> str:
        return f"step-{self._state.step}"


def _goes_on(acquired: Acquired) -> bool:
    """Whether it is all as it was, its programs too, so that the person need not hear of it."""
    return acquired.restored is not None and acquired.restored.kind == "process" and not acquired.problem


def _note(acquired: Acquired) -> NoteTurn | None:
    """What the planner must know of the sandbox that it has now."""
    why = f" {acquired.problem}." if acquired.problem else ""
    if acquired.files_lost:
        text = f"The sandbox was lost and is a new, empty one: its files are gone.{why}"
        return NoteTurn(code="sandbox_lost", text=text)
    if acquired.restored is not None:
        return NoteTurn(code="sandbox_restored", text=f"{_restored(acquired.restored)}{why}")
    return None


def _restored(snapshot: Snapshot) -> str:
    programs = "its programs go on" if snapshot.kind == "process" else "no program of before runs any more"
    at = f"{snapshot.created_at:%Y-%m-%d %H:%M:%S} UTC"
    return f"The sandbox was restored from the snapshot {snapshot.name} of {at}: its files are as then, and {programs}."
