"""One audit line for each request that a sandbox made, in order, without holding the request up."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict

from contracts.audit import Event, Recorder
from contracts.sandbox import Lease
from sandbox.egress import EgressRecord
from workers.later import Later, recording_later


class EgressAudit:
    """Called by the egress proxy; the lines are on disk when the block of `auditing` has ended."""

    def __init__(self, later: Later) -> None:
        self._later = later

    def __call__(self, lease: Lease, record: EgressRecord) -> None:
        self._later(_event(lease, record))

    async def written(self) -> None:
        """Wait until nothing is left to write."""
        await self._later.written()


@asynccontextmanager
async def auditing(recorder: Recorder) -> AsyncIterator[EgressAudit]:
    """Write while the block runs."""
    async with recording_later(recorder) as later:
        yield EgressAudit(later)


def _event(lease: Lease, record: EgressRecord) -> Event:
    """Where somebody went on a host is nobody else's business."""
    data = asdict(record)
    path = data.pop("path")
    return Event(
        kind="egress",
        actor=f"sandbox:{lease.sandbox_id}",
        task_id=lease.task_id,
        data=data,
        words={"path": path} if path else {},
    )
