"""Finds out who owns what is on this host, and has everything else removed: sandboxes, and snapshots nobody names."""

import asyncio
import logging
import time
from collections.abc import Collection, Sequence
from datetime import timedelta
from typing import Protocol

from temporalio import activity
from temporalio.client import (
    Client,
    RPCTimeoutOrCancelledError,
    Schedule,
    ScheduleActionStartWorkflow,
    ScheduleAlreadyRunningError,
    ScheduleIntervalSpec,
    ScheduleOverlapPolicy,
    SchedulePolicy,
    ScheduleSpec,
    ScheduleUpdate,
    ScheduleUpdateInput,
    WorkflowQueryFailedError,
    WorkflowQueryRejectedError,
)
from temporalio.common import QueryRejectCondition
from temporalio.exceptions import ApplicationError
from temporalio.service import RPCError, RPCStatusCode

from activities.beat import Pulse, alive
from contracts import errors
from contracts.activities import SweepRequest
from contracts.lifecycle import COMING_STATES, SandboxView
from contracts.queues import WORKFLOWS, host_queue, sandbox_workflow_id
from contracts.sandbox import HostedSandbox, Lease, SandboxUnavailable, SweepReport
from workers.watching import is_open

COLLECT_SECONDS = 3_600.0
"""How often snapshots are collected: it asks every sandbox that there is."""
ANSWER = timedelta(seconds=10)
NO_ANSWER = (RPCStatusCode.DEADLINE_EXCEEDED, RPCStatusCode.FAILED_PRECONDITION)
"""What the server says of a workflow for which no worker has time."""
AT_ONCE = 20
"""How many workflows are asked side by side."""

_log = logging.getLogger(__name__)


class Swept(Protocol):
    """A host, as the sweep uses it."""

    async def hosted(self) -> Sequence[HostedSandbox]: ...

    async def sweep(self, living: Sequence[Lease]) -> SweepReport: ...


class Collecting(Protocol):
    """The store of snapshots, as the sweep uses it."""

    async def collect(self, live: Collection[str]) -> int:
        """Remove what belongs to none of these digests, and is not too young to be known; gives how many."""
        ...


class Unknown(Exception):
    """Raised when a sandbox's workflow does not say what is its own."""


class Sweeping:
    """The activity `sweep_host` of one host."""

    def __init__(self, host: Swept, client: Client, snapshots: Collecting) -> None:
        self._host = host
        self._client = client
        self._snapshots = snapshots
        self._collected_at = float("-inf")

    @activity.defn(name="sweep_host")
    async def sweep_host(self, request: SweepRequest) -> SweepReport:
        """Raises: ApplicationError of type SandboxUnavailable while the engine does not answer."""
        try:
            return await alive(self._swept(request), Pulse(activity.heartbeat), lambda: False)
        except SandboxUnavailable as error:
            raise ApplicationError(str(error), type=errors.SANDBOX_UNAVAILABLE) from error

    async def _swept(self, request: SweepRequest) -> SweepReport:
        report = await sweep_once(self._host, self._client, request.host_id)
        if time.monotonic() - self._collected_at < COLLECT_SECONDS:
            return report
        collected = await collect_once(self._snapshots, self._client)
        self._collected_at = time.monotonic()
        return report.model_copy(update={"snapshots": report.snapshots + collected})


async def sweep_once(host: Swept, client: Client, host_id: str) -> SweepReport:
    """Remove from a host what belongs to no sandbox's workflow. Raises: RPCError, SandboxUnavailable."""
    room = asyncio.Semaphore(AT_ONCE)

    async def owned(sandbox: HostedSandbox) -> Lease | None:
        async with room:
            return await _owned(client, sandbox, host_id)

    found = await asyncio.gather(*(owned(each) for each in await host.hosted() if each.owner))
    report = await host.sweep([lease for lease in found if lease is not None])
    if report != SweepReport():
        _log.warning("swept: %s", report.model_dump_json())
    return report


async def collect_once(snapshots: Collecting, client: Client) -> int:
    """Remove the snapshots that no open workflow of a sandbox names; none, unless every one of them answers.

    Raises: RPCError.
    """
    live: set[str] = set()
    async for execution in client.list_workflows("WorkflowType = 'SandboxWorkflow' AND ExecutionStatus = 'Running'"):
        try:
            view = await view_of(client, execution.id)
        except Unknown as error:
            _log.warning("no snapshots are collected this time: %s", error)
            return 0
        if view is not None:
            live.update(snapshot.digest for snapshot in view.snapshots)
    return await snapshots.collect(live)


async def keep_sweeping(client: Client, host_id: str, every: timedelta) -> None:
    """See to it that the server has this host swept now and regularly. Raises: RPCError."""
    schedule = Schedule(
        action=ScheduleActionStartWorkflow(
            "SweepWorkflow",
            SweepRequest(host_id=host_id),
            id=f"sweep/{host_id}",
            task_queue=WORKFLOWS,
            static_summary=f"sweep of host {host_id}",
        ),
        spec=ScheduleSpec(intervals=[ScheduleIntervalSpec(every=every)]),
        policy=SchedulePolicy(overlap=ScheduleOverlapPolicy.SKIP, catchup_window=every),
    )

    async def renewed(_: ScheduleUpdateInput) -> ScheduleUpdate:
        return ScheduleUpdate(schedule=schedule)

    try:
        await client.create_schedule(f"sweep/{host_id}", schedule, trigger_immediately=True)
    except ScheduleAlreadyRunningError:
        handle = client.get_schedule_handle(f"sweep/{host_id}")
        await handle.update(renewed)
        await handle.trigger()


async def view_of(client: Client, workflow_id: str) -> SandboxView | None:
    """What the workflow of a sandbox says of it; None if it has ended. Raises: Unknown, RPCError."""
    handle = client.get_workflow_handle(workflow_id)
    try:
        view: SandboxView = await handle.query(
            "view", result_type=SandboxView, reject_condition=QueryRejectCondition.NOT_OPEN, rpc_timeout=ANSWER
        )
    except WorkflowQueryRejectedError:
        return None
    except (WorkflowQueryFailedError, RPCTimeoutOrCancelledError) as error:
        raise Unknown(f"{workflow_id} does not answer: {error}") from error
    except RPCError as error:
        if error.status is RPCStatusCode.NOT_FOUND:
            return None
        if error.status in NO_ANSWER:
            raise Unknown(f"{workflow_id} does not answer: {error.message}") from error
        raise
    return view


async def _owned(client: Client, sandbox: HostedSandbox, host_id: str) -> Lease | None:
    """The lease of a sandbox that is somebody's; in doubt it is."""
    lease = Lease(
        sandbox_id=sandbox.sandbox_id,
        task_id=sandbox.owner,
        host_id=host_id,
        task_queue=host_queue(host_id),
        epoch=sandbox.epoch,
        driver="",
        runtime=sandbox.runtime,
        image=sandbox.image,
    )
    try:
        view = await view_of(client, sandbox_workflow_id(sandbox.owner))
    except Unknown as error:
        _log.warning("%s is left alone: %s", sandbox.sandbox_id, error)
        return lease
    if view is None:
        return None
    if view.working and view.task_id is not None and not await is_open(client, view.task_id):
        _log.warning("task %s has ended without giving up its sandbox", view.task_id)
        await client.get_workflow_handle(sandbox_workflow_id(sandbox.owner)).signal("ended")
    if view.lease is None:
        return lease if view.state in COMING_STATES else None
    is_present = (view.lease.host_id, view.lease.sandbox_id, view.lease.epoch) == (
        host_id,
        lease.sandbox_id,
        lease.epoch,
    )
    return view.lease if is_present else None
