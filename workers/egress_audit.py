"""Writes one audit line for each request that a sandbox made, in order, without holding the request up."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict

from contracts.audit import Event, Recorder
from contracts.sandbox import Lease
from sandbox.egress import EgressRecord

_log = logging.getLogger(__name__)


class EgressAudit:
    """Called by the egress proxy; the lines are on disk when the block of `auditing` has ended."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._waiting: asyncio.Queue[tuple[Lease, EgressRecord]] = asyncio.Queue()

    def __call__(self, lease: Lease, record: EgressRecord) -> None:
        self._waiting.put_nowait((lease, record))

    async def write_for_ever(self) -> None:
        while True:
            lease, record = await self._waiting.get()
            try:
                await self._recorder.record(_event(lease, record))
            finally:
                self._waiting.task_done()

    async def written(self) -> None:
        """Wait until nothing is left to write."""
        await self._waiting.join()


@asynccontextmanager
async def auditing(recorder: Recorder) -> AsyncIterator[EgressAudit]:
    """Write while the block runs; a line that cannot be written ends the writing, and is in the log."""
    audit = EgressAudit(recorder)
    writing = asyncio.create_task(audit.write_for_ever())
    writing.add_done_callback(_report)
    try:
        yield audit
    finally:
        if not writing.done():
            await audit.written()
        writing.cancel()
        await asyncio.gather(writing, return_exceptions=True)


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


def _report(writing: asyncio.Task[None]) -> None:
    if not writing.cancelled() and writing.exception() is not None:
        _log.error("the audit of network requests has ended: %s", writing.exception())
