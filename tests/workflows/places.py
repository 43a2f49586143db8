"""Hosts that follow a script: what they are asked for, what they give, and what goes wrong there."""

import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from temporalio import activity
from temporalio.exceptions import ApplicationError

from contracts import errors
from contracts.activities import Leasing, ReclaimRequest, SnapshotRequest
from contracts.queues import host_queue
from contracts.sandbox import Lease, LeaseRequest, Snapshot, SnapshotKind
from contracts.undo import Undoing, Undone, UndoRequest

Trouble = Callable[[str], Awaitable[None] | None]


def failing(kind: str, *, final: bool = True) -> ApplicationError:
    """What an activity of a host raises."""
    return ApplicationError(f"that is {kind}", type=kind, non_retryable=final)


def lost() -> ApplicationError:
    return failing(errors.SANDBOX_LOST)


@dataclass
class Places(Leasing, Undoing):
    """One host named `test`. `trouble` is asked before each activity, and may raise or wait. A sandbox lives from its
    lease until it sleeps, is released, or `dies`."""

    trouble: Trouble = lambda _: None
    alive: set[str] = field(default_factory=set)
    """Ids of the sandboxes that are there."""
    asked: list[str] = field(default_factory=list)
    """Names of the activities in the order in which they began."""
    leases: list[LeaseRequest] = field(default_factory=list)
    saved: list[Snapshot] = field(default_factory=list)
    slept: list[Lease] = field(default_factory=list)
    released: list[Lease] = field(default_factory=list)
    keeps_processes: bool = False
    has_project_files: bool = True

    @activity.defn(name="lease_sandbox")
    async def lease_sandbox(self, request: LeaseRequest) -> Lease:
        self.leases.append(request)
        await self._begin("lease")
        sandbox_id = f"sandbox-{request.task_id}-{request.previous_epoch + 1}"
        self.alive.add(sandbox_id)
        return Lease(
            sandbox_id=sandbox_id,
            task_id=request.task_id,
            host_id="test",
            task_queue=host_queue("test"),
            epoch=request.previous_epoch + 1,
            driver="docker",
            runtime=request.runtime or "runc",
            image="base",
            restored=request.restore,
        )

    @activity.defn(name="pause_sandbox")
    async def pause_sandbox(self, lease: Lease) -> None:
        await self._begin("pause", lease)

    @activity.defn(name="resume_sandbox")
    async def resume_sandbox(self, lease: Lease) -> None:
        await self._begin("resume", lease)

    @activity.defn(name="snapshot_sandbox")
    async def snapshot_sandbox(self, request: SnapshotRequest) -> Snapshot:
        await self._begin("snapshot", request.lease)
        return self._snapshot(request.lease.task_id, request.name, request.kind)

    @activity.defn(name="sleep_sandbox")
    async def sleep_sandbox(self, request: SnapshotRequest) -> Snapshot:
        await self._begin("sleep", request.lease)
        self.alive.discard(request.lease.sandbox_id)
        self.slept.append(request.lease)
        kind: SnapshotKind = "process" if self.keeps_processes else "files"
        return self._snapshot(request.lease.task_id, request.name, kind)

    @activity.defn(name="release_sandbox")
    async def release_sandbox(self, lease: Lease) -> None:
        await self._begin("release")
        self.alive.discard(lease.sandbox_id)
        self.released.append(lease)

    @activity.defn(name="undo_in_sandbox")
    async def undo_in_sandbox(self, request: UndoRequest) -> Undone:
        await self._begin("undo", request.lease)
        return Undone(step=request.step, restored=("/workspace/a.txt",))

    @activity.defn(name="reclaim_sandbox")
    async def reclaim_sandbox(self, request: ReclaimRequest) -> Snapshot | None:
        await self._begin("reclaim")
        return self._snapshot(request.owner, "project files", "files") if self.has_project_files else None

    def dies(self) -> None:
        """Every sandbox is gone, as after a crash of the machine."""
        self.alive.clear()

    async def _begin(self, what: str, lease: Lease | None = None) -> None:
        self.asked.append(what)
        trouble = self.trouble(what)
        if isinstance(trouble, Awaitable):
            await trouble
        if lease is not None and lease.sandbox_id not in self.alive:
            raise lost()

    def _snapshot(self, owner: str, name: str, kind: SnapshotKind) -> Snapshot:
        digest = hashlib.sha256(f"{owner} {len(self.saved)}".encode()).hexdigest()
        snapshot = Snapshot(digest=digest, kind=kind, owner=owner, name=name, created_at=datetime.now(UTC))
        self.saved.append(snapshot)
        return snapshot
