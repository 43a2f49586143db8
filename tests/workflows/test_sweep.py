"""A sweep of a host: what belongs to whom is what the workflows of the sandboxes say."""

import asyncio
import uuid
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

import pytest
from temporalio.client import Client, ScheduleOverlapPolicy, WorkflowFailureError
from temporalio.exceptions import ApplicationError
from temporalio.worker import Worker

from contracts import errors
from contracts.activities import SweepRequest
from contracts.lifecycle import SandboxState
from contracts.queues import WORKFLOWS, host_queue, sandbox_workflow_id
from contracts.sandbox import HostedSandbox, Lease, SweepReport
from tests.workflows.life import Life, living
from workers.sweeping import Sweeping, collect_once, keep_sweeping, sweep_once
from workflows.sandbox import SandboxWorkflow
from workflows.sweep import SweepWorkflow

pytestmark = pytest.mark.asyncio(loop_scope="module")

OPEN_SANDBOXES = "WorkflowType = 'SandboxWorkflow' AND ExecutionStatus = 'Running'"


@dataclass
class Hosting:
    """A host with these sandboxes; it removes what is not said to live."""

    there: list[HostedSandbox] = field(default_factory=list)
    left: tuple[str, ...] = ()
    swept: int = 0

    async def hosted(self) -> Sequence[HostedSandbox]:
        return list(self.there)

    async def sweep(self, living: Sequence[Lease]) -> SweepReport:
        self.swept += 1
        alive = {(lease.sandbox_id, lease.epoch) for lease in living}
        before = len(self.there)
        self.there = [each for each in self.there if (each.sandbox_id, each.epoch) in alive]
        return SweepReport(sandboxes=before - len(self.there), left=self.left)

    def holds(self, owner: str, sandbox_id: str, epoch: int) -> HostedSandbox:
        self.there.append(
            HostedSandbox(
                sandbox_id=sandbox_id, owner=owner, user_id="u", epoch=epoch, state="active", runtime="runc", image="i"
            )
        )
        return self.there[-1]


@dataclass
class Stored:
    """A store that notes which digests it was told to keep."""

    kept: list[set[str]] = field(default_factory=list)

    async def collect(self, live: Collection[str]) -> int:
        self.kept.append(set(live))
        return 3


async def sweep(host: Hosting, life: Life) -> SweepReport:
    return await sweep_once(host, life.on.client, "test")


async def test_only_what_is_its_workflow_s_present_lease_stays(client: Client) -> None:
    host = Hosting()
    async with living(client) as life:
        lease = (await life.need()).lease
        mine = host.holds(life.owner, lease.sandbox_id, lease.epoch)
        host.holds(life.owner, "an older one of it", lease.epoch)
        host.holds("nobody", "left by a crash", 1)
        report = await sweep(host, life)

        assert host.there == [mine]
        assert report.sandboxes == 2


async def test_one_that_another_host_has_taken_over_goes(client: Client) -> None:
    host = Hosting()
    async with living(client) as life:
        lease = (await life.need()).lease
        host.holds(life.owner, lease.sandbox_id, lease.epoch)
        await sweep_once(host, client, "another")

        assert host.there == []


async def test_one_that_is_just_being_made_stays(client: Client) -> None:
    go = asyncio.Event()

    async def slowly(what: str) -> None:
        if what == "lease":
            await go.wait()

    host = Hosting()
    async with living(client) as life:
        life.script.trouble = slowly
        needed = asyncio.create_task(life.need())
        await life.asked("lease")
        newborn = host.holds(life.owner, "newborn", 1)
        await sweep(host, life)
        go.set()
        await needed

        assert host.there == [newborn]


async def test_one_whose_workflow_has_ended_goes(client: Client) -> None:
    host = Hosting()
    async with living(client) as life:
        lease = (await life.need()).lease
        host.holds(life.owner, lease.sandbox_id, lease.epoch)
        await life.handle.terminate()
        await sweep(host, life)

        assert host.there == []


async def test_a_task_that_was_terminated_has_its_sandbox_put_to_sleep(client: Client) -> None:
    host = Hosting()
    async with living(client) as life:
        lease = (await life.need()).lease
        host.holds(life.owner, lease.sandbox_id, lease.epoch)
        await sweep(host, life)

        view = await life.until(SandboxState.ASLEEP)
        assert view.history[-1].why == "its task has ended"


async def test_all_snapshots_that_a_living_sandbox_or_a_fork_names_are_kept(client: Client) -> None:
    store, fork = Stored(), f"f{uuid.uuid4().hex[:12]}"
    async with living(client) as life:
        await life.need(snapshot="step-1")
        await life.need(snapshot="step-2")
        await life.handle.execute_update(SandboxWorkflow.fork, args=[fork, "step-1"])
        await life.until(SandboxState.ASLEEP, owner=fork)
        await listed(client, life.owner, fork)

        collected = await collect_once(store, client)

        first, second = (snapshot.digest for snapshot in life.script.saved)
        assert collected == 3
        assert {first, second} <= store.kept[-1]
        # the fork alone is left
        await life.handle.execute_update(SandboxWorkflow.destroy)
        await collect_once(store, client)
        assert first in store.kept[-1]
        await life.of(fork).execute_update(SandboxWorkflow.destroy)


async def listed(client: Client, *owners: str) -> None:
    """Wait until the server's index has these sandboxes: a workflow is in it a moment after its start."""
    wanted = {sandbox_workflow_id(owner) for owner in owners}
    async with asyncio.timeout(60):
        while not wanted <= {one.id async for one in client.list_workflows(OPEN_SANDBOXES)}:  # noqa: ASYNC110  nobody tells
            await asyncio.sleep(0.05)


async def test_a_sweep_that_leaves_something_fails_in_the_open(client: Client) -> None:
    host, store = Hosting(left=("network-7",)), Stored()
    sweeping = Sweeping(host, client, store)
    queue = host_queue("leaky")
    async with living(client), Worker(client, task_queue=queue, activities=[sweeping.sweep_host]):
        with pytest.raises(WorkflowFailureError) as caught:
            await client.execute_workflow(
                SweepWorkflow.run, SweepRequest(host_id="leaky"), id=uuid.uuid4().hex, task_queue=WORKFLOWS
            )

        assert isinstance(caught.value.cause, ApplicationError)
        assert caught.value.cause.type == errors.SWEEP_LEFT
        assert "network-7" in caught.value.cause.message


async def test_a_host_is_swept_at_its_start_and_then_by_its_schedule(client: Client) -> None:
    host, store = Hosting(), Stored()
    host_id = f"h{uuid.uuid4().hex[:8]}"
    sweeping = Sweeping(host, client, store)
    async with living(client), Worker(client, task_queue=host_queue(host_id), activities=[sweeping.sweep_host]):
        await keep_sweeping(client, host_id, timedelta(hours=1))
        await swept(host, 1)
        await keep_sweeping(client, host_id, timedelta(hours=2))
        await swept(host, 2)
        schedule = client.get_schedule_handle(f"sweep/{host_id}")
        described = await schedule.describe()
        await schedule.delete()

        assert described.schedule.spec.intervals[0].every == timedelta(hours=2)
        assert described.schedule.policy.overlap is ScheduleOverlapPolicy.SKIP
        assert len(store.kept) == 1


async def swept(host: Hosting, times: int) -> None:
    async with asyncio.timeout(60):
        while True:
            if host.swept >= times:
                return
            await asyncio.sleep(0.02)
