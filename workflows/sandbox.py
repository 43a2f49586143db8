"""The life of one sandbox. Handlers only record what is wanted; one loop does one thing after the other, so that a
renewal and an expiry cannot meet."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from temporalio import workflow
from temporalio.exceptions import ActivityError, ApplicationError, is_cancelled_exception

from contracts import errors
from contracts.activities import Acquired, AcquireRequest
from contracts.lifecycle import SandboxInput, SandboxView, WaitingNotice
from contracts.provenance import TakenIn
from contracts.sandbox import Snapshot, SnapshotKind
from contracts.undo import Undone
from workflows.failures import reason_of, type_of
from workflows.hosting import Hosting, is_lost
from workflows.keeping import Keeping
from workflows.messages import refuse
from workflows.stay import Stay
from workflows.stopping import unhindered

Answer = TypeVar("Answer")


@dataclass
class Want:
    """Something that somebody waits for, and what became of it."""

    act: Callable[[], Awaitable[Any]]
    ends_it: bool = False
    done: bool = False
    answer: Any = None
    error: ApplicationError | None = None


@workflow.defn(name="SandboxWorkflow")
class SandboxWorkflow:
    """Owns exactly one sandbox: every step in its life is taken here, and nowhere else."""

    @workflow.init
    def __init__(self, given: SandboxInput) -> None:
        self._stay = Stay(given)
        self._wants: list[Want] = []
        self._keeping = Keeping(self._stay, Hosting(self._stay, self._is_given_up))

    @workflow.run
    async def run(self, given: SandboxInput) -> SandboxView:
        self._stay.show()
        try:
            while not self._stay.over:
                await self._until_something_is_to_do()
                await self._do_next()
                await self._continue_as_new_if_long()
        except BaseException as error:
            if not is_cancelled_exception(error):
                raise
            await unhindered(self._end(workflow.cancellation_reason() or "cancelled"))
            raise
        await self._end("")
        return self._stay.view()

    async def _until_something_is_to_do(self) -> None:
        due = self._stay.due()
        before = self._stay.due

        def something() -> bool:
            return bool(self._wants) or before() != due or self._is_of_no_use()

        wait = max(0.0, (due[1] - workflow.now()).total_seconds()) if due else None
        if something() or wait == 0.0:
            return
        try:
            await workflow.wait_condition(something, timeout=wait, timeout_summary=due[0] if due else None)
        except TimeoutError:
            return

    async def _do_next(self) -> None:
        if self._wants:
            await self._serve(self._wants[0])
            self._wants.pop(0)
        elif self._is_of_no_use():
            await self._keeping.remove("its task has ended, and there is nothing to keep")
        else:
            await self._keeping.settle()

    async def _serve(self, want: Want) -> None:
        """Do it, and let who waits know. Only a cancellation of the workflow is raised."""
        try:
            want.answer = await want.act()
        except ApplicationError as error:
            want.error = error
        except ActivityError as error:
            if is_cancelled_exception(error):
                raise
            if is_lost(error) and self._stay.lease is not None:
                self._stay.lose(reason_of(error))
            want.error = refuse(type_of(error) or errors.SANDBOX_UNAVAILABLE, reason_of(error))
        want.done = True

    async def _continue_as_new_if_long(self) -> None:
        info = workflow.info()
        own = self._stay.given.continue_after_events
        if self._stay.over or not (info.is_continue_as_new_suggested() or 0 < own <= info.get_current_history_length()):
            return
        await workflow.wait_condition(lambda: bool(self._wants) or workflow.all_handlers_finished())
        if not self._wants:
            workflow.continue_as_new(self._stay.given.model_copy(update={"carry": self._stay.carry(), "snapshots": ()}))

    async def _end(self, why: str) -> None:
        if not self._stay.over:
            await self._keeping.remove(why)
        for want in self._wants:
            want.error = want.error or closing(self._stay.given.owner)
            want.done = True
        await workflow.wait_condition(workflow.all_handlers_finished)

    def _is_of_no_use(self) -> bool:
        stay = self._stay
        return stay.ended and stay.lease is None and not stay.snapshots

    def _is_given_up(self) -> bool:
        """Whether a sandbox that is waited for is wanted by nobody any more."""
        return self._stay.ended or any(want.ends_it for want in self._wants)

    async def _asked(self, act: Callable[[], Awaitable[Answer]], *, ends_it: bool = False) -> Answer:
        """Have the loop do this. Raises: ApplicationError if it could not be done."""
        if self._stay.over:
            raise closing(self._stay.given.owner)
        want = Want(act, ends_it)
        self._wants.append(want)
        await workflow.wait_condition(lambda: want.done)
        if want.error is not None:
            raise want.error
        answer: Answer = want.answer
        return answer

    @workflow.update
    async def need(self, request: AcquireRequest) -> Acquired:
        """The task needs it now, whatever state it is in."""
        return await self._asked(lambda: self._keeping.give(request))

    @need.validator
    def _check_need(self, request: AcquireRequest) -> None:
        if self._stay.over:
            raise closing(self._stay.given.owner)

    @workflow.signal
    def waiting(self, notice: WaitingNotice) -> None:
        """The task waits for its person: freeze it now, and let it sleep if that takes long."""
        self._stay.rests(notice)

    @workflow.signal
    def takes_in(self, taken_in: TakenIn) -> None:
        """Its task has taken in something that is not the person's, or is the person's alone."""
        self._stay.taken_in = self._stay.taken_in.joined(taken_in)

    @workflow.signal
    def ended(self) -> None:
        """The task is over: what it left is saved, and its place given back at once."""
        self._stay.ends()

    @workflow.update
    async def pause(self) -> SandboxView:
        """Freeze it until somebody needs it."""
        return await self._asked(self._keeping.pause)

    @workflow.update
    async def resume(self, lost_epoch: int = 0) -> SandboxView:
        """Let it run, woken if it sleeps; a lease up to this epoch was found lost."""
        return await self._asked(lambda: self._keeping.resume(lost_epoch))

    @workflow.update
    async def snapshot(self, name: str, kind: SnapshotKind = "files") -> Snapshot:
        """Save its state under a name."""
        return await self._asked(lambda: self._keeping.save(name, kind))

    @workflow.update
    async def restore(self, which: str) -> SandboxView:
        """Go back to a snapshot, by its name or the beginning of its digest."""
        return await self._asked(lambda: self._keeping.restore(which))

    @workflow.update
    async def fork(self, name: str, which: str = "") -> str:
        """Make a second one that shares the past, or that up to a snapshot; gives its owner's name."""
        return await self._asked(lambda: self._keeping.fork(name, which))

    @workflow.update
    async def undo(self, step: int | None = None) -> Undone:
        """Take back what a step of its task did to files, or the last one that did something."""
        return await self._asked(lambda: self._keeping.undo(step))

    @workflow.update
    async def reset(self) -> SandboxView:
        """Begin anew with an empty one, after an error that nothing else helps against."""
        return await self._asked(self._keeping.reset)

    @workflow.update
    async def destroy(self) -> SandboxView:
        """Remove it and all that was saved of it."""
        return await self._asked(lambda: self._keeping.remove("a person destroyed it"), ends_it=True)

    @workflow.query
    def view(self) -> SandboxView:
        """What anyone who may look at the sandbox sees of it."""
        return self._stay.view()


def closing(owner: str) -> ApplicationError:
    """What is told to who comes too late."""
    return refuse(errors.SANDBOX_CLOSING, f"the sandbox of {owner} is gone")
