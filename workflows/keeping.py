"""Each step in the life of one sandbox: given to its task, frozen, put to sleep, woken, forked, ended."""

import re

from temporalio import workflow
from temporalio.exceptions import ActivityError, WorkflowAlreadyStartedError

from contracts import errors
from contracts.activities import Acquired, AcquireRequest
from contracts.lifecycle import SandboxInput, SandboxState, SandboxView
from contracts.queues import sandbox_workflow_id
from contracts.sandbox import Lease, Snapshot, SnapshotKind
from contracts.undo import Undone
from workflows import limits
from workflows.failures import reason_of, type_of
from workflows.hosting import GivenUp, Hosting, is_lost
from workflows.messages import refuse
from workflows.stay import Stay

ASLEEP = "asleep"
"""How the snapshot of a sandbox that is put to sleep is called."""
BEFORE_RESTORE = "before-restore"
FORK_NAME = re.compile(r"[a-z][a-z0-9-]{0,62}")
"""Task ids begin otherwise, so that no fork takes the place of a task's sandbox."""


class Keeping:
    """Called by the workflow's one loop alone. What it raises is the answer to who asked."""

    def __init__(self, stay: Stay, hosting: Hosting) -> None:
        self._stay = stay
        self._hosting = hosting

    async def give(self, request: AcquireRequest) -> Acquired:
        """The sandbox, whatever state it is in: what arrives while it goes to sleep wakes it right after."""
        stay = self._stay
        known = stay.repeated(request)
        if known is not None:
            return known
        stay.needed(request)
        if stay.lease is not None and stay.lease.epoch <= request.lost_epoch:
            await self._look_after(stay.lease)
        if stay.lease is not None and request.runtime not in (None, stay.lease.runtime):
            # No runtime goes on with the processes of another.
            await self._sleep(ASLEEP, f"policy demands {request.runtime}", "files")
        while True:
            await self._ready("needed")
            try:
                saved = await self._saved(request.snapshot)
            except ActivityError as error:
                self._lost_or_raise(error)
            else:
                return stay.answer(request, saved)

    async def pause(self) -> SandboxView:
        """Freeze it for a person. Raises: ApplicationError(SandboxBusy) while its task works in it."""
        stay = self._stay
        if stay.working:
            raise refuse(errors.SANDBOX_BUSY, f"the task of {stay.given.owner} works in it; pause the task first")
        stay.used()
        if stay.state is SandboxState.ACTIVE:
            await self._hosting.pause()
            stay.enter(SandboxState.PAUSED, "a person paused it")
        return stay.view()

    async def resume(self, lost_epoch: int) -> SandboxView:
        """Let it run for a person, woken if need be."""
        stay = self._stay
        if stay.lease is not None and stay.lease.epoch <= lost_epoch:
            stay.lose("a person found it lost")
        stay.used()
        await self._ready("a person resumed it")
        return stay.view()

    async def save(self, name: str, kind: SnapshotKind) -> Snapshot:
        """The present state under a person's name. Raises: ApplicationError if there is none."""
        stay = self._stay
        if stay.lease is not None:
            return await self._save(name, kind)
        head = self._head_or_refuse()
        named = head.model_copy(update={"name": name})
        stay.keeps(named)
        stay.show()
        return named

    async def restore(self, which: str) -> SandboxView:
        """Go back to a snapshot; what is there now is saved before. Raises: ApplicationError(SnapshotUnusable)."""
        stay = self._stay
        snapshot = self._found(which)
        if stay.lease is not None:
            await self._sleep(BEFORE_RESTORE, f"to go back to {which}")
        stay.used()
        try:
            await self._begin(snapshot, f"a person went back to {which}")
        except ActivityError as error:
            if type_of(error) == errors.SNAPSHOT_UNUSABLE:
                stay.enter(SandboxState.ASLEEP, stay.problem)
            raise
        return stay.view()

    async def fork(self, name: str, which: str) -> str:
        """A second sandbox under this name; it shares the past, and nothing from now on.

        Raises: ApplicationError(BadName, SnapshotUnusable)."""
        stay = self._stay
        if not FORK_NAME.fullmatch(name):
            raise refuse(
                errors.BAD_NAME, f"{name!r} is no name for a fork: use a-z, 0-9 and -, beginning with a letter"
            )
        snapshot = await self._forked(name, which)
        given = SandboxInput(
            owner=name,
            user_id=stay.given.user_id,
            lifetimes=stay.given.lifetimes,
            snapshots=(snapshot,),
            taken_in=stay.taken_in,
        )
        try:
            await workflow.start_child_workflow(
                "SandboxWorkflow",
                given,
                id=sandbox_workflow_id(name),
                parent_close_policy=workflow.ParentClosePolicy.ABANDON,
                cancellation_type=workflow.ChildWorkflowCancellationType.ABANDON,
                static_summary=f"sandbox {name}, forked from {stay.given.owner}",
            )
        except WorkflowAlreadyStartedError:
            raise refuse(errors.BAD_NAME, f"there is a sandbox named {name!r} already") from None
        return name

    async def undo(self, step: int | None) -> Undone:
        """Take back what a step of its task did to files. Raises: ApplicationError(SandboxBusy) while it works."""
        stay = self._stay
        if stay.working and not stay.waiting:
            raise refuse(errors.SANDBOX_BUSY, f"the task of {stay.given.owner} works in it; pause the task first")
        stay.used()
        await self._ready("a person takes something back")
        return await self._hosting.undo(step)

    async def reset(self) -> SandboxView:
        """An empty sandbox in place of this one; the snapshots of the old one stay."""
        stay = self._stay
        await self._hosting.release()
        stay.used()
        stay.head = None
        stay.lets_go(SandboxState.LEASING, "a person reset it")
        await self._come_back([], "a person reset it")
        return stay.view()

    async def remove(self, why: str) -> SandboxView:
        """The end of it, and of its snapshots, which nobody names any more."""
        stay = self._stay
        await self._hosting.release()
        stay.snapshots, stay.head, stay.over = [], None, True
        stay.lets_go(SandboxState.DESTROYED, why)
        return stay.view()

    async def settle(self) -> None:
        """Do what is due because nobody needs it. What cannot be done is tried again later."""
        stay = self._stay
        due = stay.due()
        if due is None or due[1] > workflow.now():
            return
        try:
            await self._due(due[0])
        except ActivityError as error:
            if is_lost(error):
                stay.lose(reason_of(error))
                return
            workflow.logger.warning("%s cannot %s: %s", stay.given.owner, due[0], error.cause)
            stay.problem = f"cannot {due[0]}: {reason_of(error)}"
            stay.not_before = workflow.now() + limits.LATER
            stay.show()

    async def _due(self, step: str) -> None:
        stay = self._stay
        if step == "save":
            name, stay.wanted = stay.wanted, ""
            await self._save(name, "files")
            stay.saved_as = name
        elif step == "freeze":
            await self._hosting.pause()
            stay.enter(SandboxState.PAUSED, "its task waits")
        elif step == "sleep":
            # What a task leaves running at its end serves nobody, and its memory is much to keep.
            kind: SnapshotKind = "files" if stay.ended else "process"
            await self._sleep(ASLEEP, "its task has ended" if stay.ended else "nobody needed it", kind)
        else:
            await self._reclaim()

    async def _reclaim(self) -> None:
        stay = self._stay
        kept = None
        for snapshot in stay.candidates():
            try:
                kept = await self._hosting.reclaim(snapshot)
                break
            except ActivityError as error:
                if type_of(error) != errors.SNAPSHOT_UNUSABLE:
                    raise
        stay.snapshots = [kept] if kept else []
        stay.head = kept.digest if kept else None
        stay.over = kept is None
        stay.enter(SandboxState.RECLAIMED, f"not needed for {stay.retention_days:g} days")

    async def _look_after(self, lease: Lease) -> None:
        """Its task could not reach it: ask its host, since a busy machine or a restart is no loss. Believe the second
        time."""
        stay = self._stay
        if stay.doubted == lease.epoch:
            stay.lose("its task found it lost again")
            return
        stay.doubted = lease.epoch
        try:
            await self._hosting.look()
            stay.enter(SandboxState.ACTIVE, "its task could not reach it, and it is still there")
        except ActivityError as error:
            self._lost_or_raise(error)

    async def _ready(self, why: str) -> None:
        """Active on some host, from wherever it is now."""
        stay = self._stay
        if stay.lease is not None and stay.state is SandboxState.PAUSED:
            try:
                await self._hosting.resume()
                stay.enter(SandboxState.ACTIVE, why)
            except ActivityError as error:
                self._lost_or_raise(error)
        if stay.lease is None:
            if stay.state is SandboxState.RECLAIMED:
                stay.problem = "it had not been needed for long; of the old sandbox only the project files were kept"
            await self._come_back(stay.candidates(), why)

    async def _come_back(self, candidates: list[Snapshot], why: str) -> None:
        """Lease from the first of these snapshots that is usable, or empty if there is none of them."""
        for snapshot in candidates:
            try:
                await self._begin(snapshot, why)
            except ActivityError as error:
                if type_of(error) != errors.SNAPSHOT_UNUSABLE:
                    raise
            else:
                return
        await self._begin(None, why)

    async def _begin(self, snapshot: Snapshot | None, why: str) -> None:
        """Lease with this content. Raises: ActivityError, of type SnapshotUnusable too."""
        stay = self._stay
        try:
            stay.holds(await self._hosting.lease(snapshot), snapshot, why)
        except GivenUp:
            stay.enter(SandboxState.ASLEEP if stay.head else SandboxState.FAILED, "no longer needed")
            raise refuse(errors.SANDBOX_CLOSING, f"the sandbox of {stay.given.owner} is no longer needed") from None
        except ActivityError as error:
            stay.problem = reason_of(error)
            if type_of(error) != errors.SNAPSHOT_UNUSABLE:
                stay.enter(SandboxState.FAILED, stay.problem)
            raise

    async def _sleep(self, name: str, why: str, kind: SnapshotKind = "process") -> None:
        stay = self._stay
        try:
            stay.keeps(await self._hosting.sleep(name, kind))
        except ActivityError as error:
            self._lost_or_raise(error)
        else:
            stay.lets_go(SandboxState.ASLEEP, why)

    async def _saved(self, name: str) -> Snapshot | None:
        """The snapshot that a need asks for; nothing has changed since one that was taken while its task waited."""
        if not name:
            return None
        if name == self._stay.saved_as:
            return self._stay.find(name)
        return await self._save(name, "files")

    async def _save(self, name: str, kind: SnapshotKind) -> Snapshot:
        snapshot = await self._hosting.save(name, kind)
        self._stay.keeps(snapshot)
        self._stay.show()
        return snapshot

    async def _forked(self, name: str, which: str) -> Snapshot:
        """What a fork begins with."""
        if which:
            return self._found(which)
        return await self._save(f"fork-{name}", "files") if self._stay.lease is not None else self._head_or_refuse()

    def _found(self, which: str) -> Snapshot:
        snapshot = self._stay.find(which)
        if snapshot is None:
            raise refuse(errors.SNAPSHOT_UNUSABLE, f"{self._stay.given.owner} has no snapshot {which!r}")
        return snapshot

    def _head_or_refuse(self) -> Snapshot:
        candidates = self._stay.candidates()
        if not candidates:
            raise refuse(errors.SNAPSHOT_UNUSABLE, f"nothing of {self._stay.given.owner} is there to be saved")
        return candidates[0]

    def _lost_or_raise(self, error: ActivityError) -> None:
        """Raises: ActivityError if it is about anything but a lost sandbox."""
        if not is_lost(error):
            raise error
        self._stay.lose(reason_of(error))
