"""The life of one sandbox, against a real server; hosts follow a script."""

import asyncio
from datetime import timedelta

import pytest
from temporalio.client import Client, WorkflowExecution
from temporalio.testing import TimeSkipper, TimeSkippingConfig

from contracts import errors, search
from contracts.lifecycle import Lifetimes, SandboxState
from contracts.queues import WORKFLOWS, sandbox_workflow_id
from tests.workflows.life import living
from tests.workflows.places import failing
from tests.workflows.saying import refusal
from workflows.sandbox import SandboxWorkflow

pytestmark = pytest.mark.asyncio(loop_scope="module")

ACTIVE, PAUSED, ASLEEP = SandboxState.ACTIVE, SandboxState.PAUSED, SandboxState.ASLEEP
SHORT = Lifetimes(idle_seconds=0.2)


async def test_a_first_need_makes_a_sandbox_and_a_further_one_gets_the_same(client: Client) -> None:
    async with living(client) as life:
        first = await life.need()
        second = await life.need()

        assert first.lease == second.lease
        assert (first.restored, first.files_lost) == (None, False)
        assert life.script.asked == ["lease"]


async def test_it_is_frozen_while_its_task_waits_and_thawed_by_the_next_need(client: Client) -> None:
    async with living(client) as life:
        first = await life.need()
        await life.waits()
        await life.until(PAUSED)
        again = await life.need()

        assert again.lease == first.lease
        assert (await life.view()).state is ACTIVE
        assert life.script.asked == ["lease", "pause", "resume"]


async def test_it_sleeps_when_nobody_needs_it_for_long_and_wakes_under_a_higher_epoch(client: Client) -> None:
    async with living(client, lifetimes=SHORT) as life:
        first = await life.need()
        await life.waits()
        view = await life.until(ASLEEP)
        again = await life.need()

        assert view.lease is None
        assert again.restored is not None
        assert again.restored.digest == view.head == life.script.leases[-1].restore
        assert again.lease.epoch > first.lease.epoch
        assert life.script.asked == ["lease", "pause", "sleep", "lease"]


async def test_it_does_not_sleep_under_a_task_that_works(client: Client) -> None:
    async with living(client, lifetimes=SHORT) as life:
        await life.need()
        view = await life.view()

        assert (view.working, view.next_at) == (True, None)


async def test_a_need_that_comes_while_it_goes_to_sleep_wakes_it_right_after(client: Client) -> None:
    sleeping, go = asyncio.Event(), asyncio.Event()

    async def slowly(what: str) -> None:
        if what == "sleep":
            sleeping.set()
            await go.wait()

    async with living(client, lifetimes=SHORT) as life:
        life.script.trouble = slowly
        first = await life.need()
        await life.waits()
        await sleeping.wait()
        needed = asyncio.create_task(life.need())
        await accepted(life.handle, 2)
        go.set()
        again = await needed

        assert again.lease.epoch > first.lease.epoch
        assert again.restored is not None
        assert (await life.view()).state is ACTIVE
        assert life.script.asked == ["lease", "pause", "sleep", "lease"]


async def test_renewals_that_race_with_expiries_always_end_with_one_living_sandbox(client: Client) -> None:
    async with living(client, lifetimes=Lifetimes(idle_seconds=0.02)) as life:
        for number in range(10):
            acquired = await life.need()
            view = await life.view()

            assert (view.state, view.lease) == (ACTIVE, acquired.lease)
            assert life.script.alive == {acquired.lease.sandbox_id}
            await life.waits()
            await asyncio.sleep(0.01 * number)


async def test_a_lost_sandbox_comes_back_from_its_last_snapshot(client: Client) -> None:
    async with living(client) as life:
        first = await life.need(snapshot="step-1")
        life.script.dies()
        again = await life.need(lost_epoch=first.lease.epoch)

        assert first.snapshot is not None
        assert again.restored == first.snapshot
        assert not again.files_lost
        assert again.lease.epoch == first.lease.epoch + 1


async def test_a_sandbox_lost_before_anything_was_saved_begins_empty_and_says_so(client: Client) -> None:
    async with living(client) as life:
        first = await life.need()
        life.script.dies()
        again = await life.need(lost_epoch=first.lease.epoch)

        assert again.files_lost
        assert again.restored is None


async def test_a_snapshot_that_was_changed_is_passed_over_for_the_one_before_it(client: Client) -> None:
    def changed(what: str) -> None:
        if what == "lease" and life.script.leases[-1].restore == life.script.saved[-1].digest:
            raise failing(errors.SNAPSHOT_UNUSABLE)

    async with living(client) as life:
        first = await life.need(snapshot="step-1")
        await life.need(snapshot="step-2")
        life.script.dies()
        life.script.trouble = changed
        again = await life.need(lost_epoch=first.lease.epoch)

        assert again.restored == first.snapshot
        assert "SnapshotUnusable" in again.problem


async def test_a_snapshot_taken_while_the_task_waited_is_not_taken_again_after_the_yes(client: Client) -> None:
    async with living(client) as life:
        await life.need()
        await life.waits("step-3")
        await life.until(PAUSED)
        again = await life.need(snapshot="step-3")

        assert again.snapshot is not None
        assert again.snapshot.name == "step-3"
        assert life.script.asked == ["lease", "snapshot", "pause", "resume"]


async def test_a_demanded_snapshot_that_cannot_be_taken_keeps_the_call_from_running(client: Client) -> None:
    def no_store(what: str) -> None:
        if what == "snapshot":
            raise failing(errors.SNAPSHOT_FAILED)

    async with living(client) as life:
        life.script.trouble = no_store

        assert await refusal(life.need(snapshot="step-1")) == errors.SNAPSHOT_FAILED


async def test_a_busy_sandbox_stays_awake_and_is_tried_again_later(client: Client) -> None:
    def busy(what: str) -> None:
        if what == "sleep":
            raise failing(errors.SANDBOX_BUSY)

    async with living(client, lifetimes=SHORT) as life:
        life.script.trouble = busy
        first = await life.need()
        await life.waits()
        await life.asked("sleep")
        again = await life.need()

        assert again.lease == first.lease
        assert again.restored is None


async def test_when_its_task_has_ended_it_sleeps_and_is_given_to_a_task_that_goes_on_again(client: Client) -> None:
    async with living(client) as life:
        first = await life.need()
        await life.ends()
        await life.until(ASLEEP)
        again = await life.need(lost_epoch=first.lease.epoch)

        assert again.restored is not None
        assert again.lease.epoch == 2


async def test_policy_says_how_long_it_is_kept_and_the_settings_where_policy_does_not(client: Client) -> None:
    async with living(client) as life:
        await life.need(retention_days=2)
        await life.need()
        await life.ends()
        asleep = await life.until(SandboxState.ASLEEP)

    assert asleep.next_step == "reclaim"
    assert asleep.next_at is not None
    assert asleep.touched is not None
    assert asleep.next_at - asleep.touched == timedelta(days=2)


async def test_its_state_crosses_a_continue_as_new(client: Client) -> None:
    async with living(client, continue_after_events=30) as life:
        for number in range(1, 5):
            await life.need(snapshot=f"step-{number}")
            await life.waits()
        view = await life.until(PAUSED)
        runs = [each async for each in client.list_workflows(f"WorkflowId = '{life.handle.id}'")]

        assert [each.name for each in view.snapshots] == ["step-4", "step-3", "step-2", "step-1"]
        assert view.epoch == 1
        assert len({each.run_id for each in runs}) > 1


async def test_it_can_be_found_by_state_and_person(client: Client) -> None:
    async with living(client) as life:
        await life.need()
        await life.waits()
        await life.until(PAUSED)
        query = f"SandboxState = 'paused' AND HostId = 'test' AND WorkflowId = '{life.handle.id}'"
        found = await listed(client, query)

        assert found[0].typed_search_attributes.get(search.USER_ID) == "console:1"


@pytest.mark.parametrize("kept", [True, False])
async def test_after_a_week_only_the_project_files_are_kept_and_they_come_back(client: Client, kept: bool) -> None:
    skipping = TimeSkipper(client, config=TimeSkippingConfig(enabled=True)).client
    async with living(client) as life:
        life.script.has_project_files = kept
        await life.need()
        await life.ends()
        before = await life.until(ASLEEP)
        given = life.given.model_copy(update={"owner": f"{life.owner}-w", "snapshots": before.snapshots})
        week = await skipping.start_workflow(
            SandboxWorkflow.run, given, id=sandbox_workflow_id(given.owner), task_queue=WORKFLOWS
        )
        after = await life.until(SandboxState.RECLAIMED, owner=given.owner)

        assert after.history[-1].at - before.since >= timedelta(days=7)
        assert [each.name for each in after.snapshots] == (["project files"] if kept else [])
        if kept:
            back = await week.execute_update(SandboxWorkflow.resume)
            assert back.lease is not None
            assert back.lease.restored == after.head
            await week.terminate()
        else:
            assert (await week.result()).state is SandboxState.RECLAIMED


async def listed(client: Client, query: str) -> list[WorkflowExecution]:
    """What the server's index finds; it lags behind a little."""
    async with asyncio.timeout(30):
        while True:
            found = [each async for each in client.list_workflows(query)]
            if found:
                return found
            await asyncio.sleep(0.05)


async def accepted(handle: object, updates: int) -> None:
    """Wait until so many updates are in the history."""
    async with asyncio.timeout(60):
        while True:
            history = await handle.fetch_history()  # type: ignore[attr-defined]  # any workflow's handle
            found = [e for e in history.events if e.HasField("workflow_execution_update_accepted_event_attributes")]
            if len(found) >= updates:
                return
            await asyncio.sleep(0.02)
