"""What a sandbox's workflow asks of hosts: a new sandbox of any host, everything else of the one that holds it."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any, TypeVar

from temporalio import workflow
from temporalio.exceptions import ActivityError

from contracts import errors
from contracts.activities import Leasing, ReclaimRequest, SnapshotRequest
from contracts.lifecycle import SandboxState
from contracts.queues import HOSTS
from contracts.sandbox import Lease, LeaseRequest, Snapshot, SnapshotKind
from contracts.undo import Undoing, Undone, UndoRequest
from workflows import limits
from workflows.failures import host_is_away, type_of
from workflows.stay import Stay

Given = TypeVar("Given")
Answer = TypeVar("Answer")


class GivenUp(Exception):
    """Raised when nobody wants the sandbox any more that no host had room for."""


class Hosting:
    """One activity for each question. Raises everywhere: ActivityError, of which `is_lost` tells the lost sandbox."""

    def __init__(self, stay: Stay, is_given_up: Callable[[], bool]) -> None:
        self._stay = stay
        self._is_given_up = is_given_up

    async def lease(self, restore: Snapshot | None) -> Lease:
        """A sandbox on whatever host has room, however long that takes. Raises: GivenUp."""
        request = self._request(restore)
        coming = SandboxState.WAKING if self._stay.existed else SandboxState.LEASING
        in_queue = False
        while True:
            self._stay.enter(SandboxState.QUEUED if in_queue else coming)
            try:
                return await self._leased(request, in_queue=in_queue)
            except ActivityError as error:
                # In the queue the server tries again for ever, and out of it a few times: each hands over to the other.
                if type_of(error) != (errors.SANDBOX_UNAVAILABLE if in_queue else errors.HOST_FULL):
                    raise
                in_queue = not in_queue

    async def pause(self) -> None:
        await self._quick(Leasing.pause_sandbox, "freeze")

    async def resume(self) -> None:
        await self._quick(Leasing.resume_sandbox, "thaw")

    async def look(self) -> None:
        """Whether it is still there; it runs then. The wait is short, since somebody has waited before."""
        await self._on_host(Leasing.resume_sandbox, self._held(), limits.HOST_QUICK, "still there?", limits.HOST_LOOK)

    async def save(self, name: str, kind: SnapshotKind) -> Snapshot:
        """Its state under a name; it goes on as it was."""
        return await self._long(Leasing.snapshot_sandbox, name, kind, f"save as {name}")

    async def sleep(self, name: str, kind: SnapshotKind) -> Snapshot:
        """Its state under a name; it is on no host any more."""
        return await self._long(Leasing.sleep_sandbox, name, kind, "put to sleep")

    async def undo(self, step: int | None) -> Undone:
        """Take back what a step did to files."""
        request = UndoRequest(lease=self._held(), step=step)
        undone: Undone = await self._on_host(Undoing.undo_in_sandbox, request, limits.HOST_LONG, "take something back")
        return undone

    async def release(self) -> None:
        """Give it up. A host that cannot be reached keeps it until its sweep."""
        if self._stay.lease is None:
            return
        try:
            await workflow.execute_activity_method(
                Leasing.release_sandbox,
                self._stay.lease,
                task_queue=self._stay.lease.task_queue,
                start_to_close_timeout=limits.HOST_QUICK,
                schedule_to_close_timeout=limits.RELEASE_IN_ALL,
                summary=f"remove {self._stay.lease.sandbox_id}",
            )
        except ActivityError as error:
            workflow.logger.warning("%s is left to the sweep: %s", self._stay.lease.sandbox_id, error.cause)

    async def reclaim(self, latest: Snapshot) -> Snapshot | None:
        """Keep the project files alone; None if there are none."""
        return await workflow.execute_activity_method(
            Leasing.reclaim_sandbox,
            ReclaimRequest(owner=self._stay.given.owner, latest=latest.digest),
            task_queue=HOSTS,
            start_to_close_timeout=limits.HOST_LONG,
            schedule_to_start_timeout=limits.LEASE_WAIT,
            heartbeat_timeout=limits.HOST_HEARTBEAT,
            retry_policy=limits.HOST_RETRY,
            summary="keep the project files",
        )

    async def _leased(self, request: LeaseRequest, *, in_queue: bool) -> Lease:
        handle = workflow.start_activity_method(
            Leasing.lease_sandbox,
            request,
            task_queue=HOSTS,
            start_to_close_timeout=limits.LEASE_ATTEMPT,
            schedule_to_start_timeout=None if in_queue else limits.LEASE_WAIT,
            heartbeat_timeout=limits.HOST_HEARTBEAT,
            retry_policy=limits.QUEUE_RETRY if in_queue else limits.LEASE_RETRY,
            cancellation_type=workflow.ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
            summary="wait for a host with room" if in_queue else "get a sandbox",
        )
        try:
            await workflow.wait_condition(lambda: handle.done() or self._is_given_up())
        finally:
            if not handle.done():
                handle.cancel()
                await workflow.wait_condition(handle.done)
        try:
            return await handle
        except ActivityError:
            if self._is_given_up():
                raise GivenUp from None
            raise

    def _request(self, restore: Snapshot | None) -> LeaseRequest:
        stay = self._stay
        return LeaseRequest(
            task_id=stay.given.owner,
            user_id=stay.given.user_id,
            image=stay.image,
            previous_epoch=stay.epoch,
            egress=stay.egress,
            runtime=stay.runtime,
            restore=restore.digest if restore else None,
        )

    async def _quick(self, method: Callable[[Any, Lease], Any], what: str) -> None:
        await self._on_host(method, self._held(), limits.HOST_QUICK, what)

    async def _long(
        self, method: Callable[[Any, SnapshotRequest], Any], name: str, kind: SnapshotKind, what: str
    ) -> Snapshot:
        request = SnapshotRequest(lease=self._held(), name=name, kind=kind)
        snapshot: Snapshot = await self._on_host(method, request, limits.HOST_LONG, what)
        return snapshot

    async def _on_host(
        self,
        method: Callable[[Any, Given], Answer],
        given: Given,
        attempt: timedelta,
        what: str,
        wait: timedelta = limits.HOST_WAIT,
    ) -> Any:
        return await workflow.execute_activity_method(
            method,
            given,
            task_queue=self._held().task_queue,
            start_to_close_timeout=attempt,
            schedule_to_start_timeout=wait,
            heartbeat_timeout=limits.HOST_HEARTBEAT,
            retry_policy=limits.HOST_RETRY,
            summary=what,
        )

    def _held(self) -> Lease:
        if self._stay.lease is None:
            raise LookupError(f"{self._stay.given.owner} has no sandbox on any host")
        return self._stay.lease


def is_lost(error: ActivityError) -> bool:
    """Whether the sandbox is gone, or its host is."""
    return type_of(error) == errors.SANDBOX_LOST or host_is_away(error)
