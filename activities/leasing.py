"""The activities that make, keep and remove sandboxes; they run on the host that holds them.

Each may be tried again after an attempt whose answer was lost:
- lease: the host gives the same lease to the same request;
- pause, resume: what is so already is no error, and neither is it to give up (release) what is gone;
- snapshot: one more of the same state costs next to nothing, and only the one that is answered is named by anybody;
- sleep: the host remembers what it gave for a lease that sleeps, and gives it again;
- reclaim: the same digest gives the same project files.
"""

from collections.abc import Coroutine
from datetime import timedelta
from typing import Any, Protocol, TypeVar

from temporalio import activity
from temporalio.exceptions import ApplicationError

from activities.beat import Pulse, alive
from activities.failures import halted
from contracts import activities, errors
from contracts.activities import ReclaimRequest, SnapshotRequest
from contracts.kill import Halted
from contracts.sandbox import (
    Host,
    HostFull,
    Lease,
    LeaseRequest,
    SandboxBusy,
    SandboxLost,
    SandboxUnavailable,
    Snapshot,
    SnapshotFailed,
    SnapshotUnusable,
)

Answer = TypeVar("Answer")

TRY_AGAIN = timedelta(seconds=5)
"""A few of these let an engine start; after them the person is asked, and should not wait long for that."""
ROOM_AGAIN = timedelta(seconds=2)
"""A place is free as soon as another sandbox sleeps."""


class Keeping(Protocol):
    """What is kept of an owner once its sandbox is reclaimed."""

    async def reclaim(self, owner: str, latest: str) -> Snapshot | None:
        """A snapshot of the project files of `latest`, or None if it has none. Raises: SnapshotUnusable,
        SnapshotFailed."""
        ...


class Leasing(activities.Leasing):
    """Each has its own type of ApplicationError for what the workflow can answer. What holds for a moment only is
    tried again by Temporal, as often as the workflow lets it."""

    def __init__(self, host: Host, snapshots: Keeping) -> None:
        self._host = host
        self._snapshots = snapshots

    @activity.defn(name="lease_sandbox")
    async def lease_sandbox(self, request: LeaseRequest) -> Lease:
        """Raises: ApplicationError of type HostFull, SandboxUnavailable, SnapshotUnusable or Halted."""
        return await _answered(self._host.lease(request))

    @activity.defn(name="pause_sandbox")
    async def pause_sandbox(self, lease: Lease) -> None:
        """Raises: ApplicationError of type SandboxBusy or SandboxLost."""
        await _answered(self._host.pause(lease))

    @activity.defn(name="resume_sandbox")
    async def resume_sandbox(self, lease: Lease) -> None:
        """Raises: ApplicationError of type SandboxLost or Halted."""
        await _answered(self._host.resume(lease))

    @activity.defn(name="snapshot_sandbox")
    async def snapshot_sandbox(self, request: SnapshotRequest) -> Snapshot:
        """Raises: ApplicationError of type SandboxBusy, SandboxLost or SnapshotFailed."""
        return await _answered(self._host.snapshot(request.lease, request.name, request.kind))

    @activity.defn(name="sleep_sandbox")
    async def sleep_sandbox(self, request: SnapshotRequest) -> Snapshot:
        """Raises: ApplicationError of type SandboxBusy, SandboxLost or SnapshotFailed."""
        return await _answered(self._host.sleep(request.lease, request.name, request.kind))

    @activity.defn(name="release_sandbox")
    async def release_sandbox(self, lease: Lease) -> None:
        """Raises: ApplicationError of type SandboxUnavailable while the engine does not answer."""
        await _answered(self._host.release(lease))

    @activity.defn(name="reclaim_sandbox")
    async def reclaim_sandbox(self, request: ReclaimRequest) -> Snapshot | None:
        """Raises: ApplicationError of type SnapshotUnusable or SnapshotFailed."""
        return await _answered(self._snapshots.reclaim(request.owner, request.latest))


async def _answered(work: Coroutine[Any, Any, Answer]) -> Answer:
    """Do it with a heartbeat, and give errors their types. A cancelled attempt undoes what it began."""
    try:
        return await alive(work, Pulse(activity.heartbeat), lambda: False)
    except HostFull as error:
        raise ApplicationError(str(error), type=errors.HOST_FULL, next_retry_delay=ROOM_AGAIN) from error
    except SandboxUnavailable as error:
        raise ApplicationError(str(error), type=errors.SANDBOX_UNAVAILABLE, next_retry_delay=TRY_AGAIN) from error
    except SnapshotFailed as error:
        raise ApplicationError(str(error), type=errors.SNAPSHOT_FAILED) from error
    except SandboxBusy as error:
        raise _final(error, errors.SANDBOX_BUSY) from error
    except SandboxLost as error:
        raise _final(error, errors.SANDBOX_LOST) from error
    except SnapshotUnusable as error:
        raise _final(error, errors.SNAPSHOT_UNUSABLE) from error
    except Halted as error:
        raise halted(error) from error


def _final(error: Exception, kind: str) -> ApplicationError:
    return ApplicationError(str(error), type=kind, non_retryable=True)
