"""What a person does with a sandbox, against a real server; hosts follow a script."""

import uuid

import pytest
from temporalio.client import Client, WorkflowFailureError
from temporalio.exceptions import CancelledError

from contracts import errors
from contracts.lifecycle import SandboxState
from tests.workflows.life import living
from tests.workflows.places import failing
from tests.workflows.saying import refusal
from workflows.sandbox import SandboxWorkflow

pytestmark = pytest.mark.asyncio(loop_scope="module")

ACTIVE, PAUSED, ASLEEP = SandboxState.ACTIVE, SandboxState.PAUSED, SandboxState.ASLEEP


async def test_a_person_pauses_resumes_and_wakes_it(client: Client) -> None:
    async with living(client) as life:
        await life.need()
        at_work = await refusal(life.handle.execute_update(SandboxWorkflow.pause))
        await life.ends()
        await life.until(ASLEEP)
        awake = await life.handle.execute_update(SandboxWorkflow.resume)
        frozen = await life.handle.execute_update(SandboxWorkflow.pause)

        assert at_work == errors.SANDBOX_BUSY
        assert (awake.state, awake.working) == (ACTIVE, False)
        assert frozen.state is PAUSED


async def test_a_person_goes_back_to_a_snapshot_and_what_was_there_before_is_saved(client: Client) -> None:
    async with living(client) as life:
        first = await life.need()
        saved = await life.handle.execute_update(SandboxWorkflow.snapshot, args=["good", "files"])
        unknown = await refusal(life.handle.execute_update(SandboxWorkflow.restore, "better"))
        view = await life.handle.execute_update(SandboxWorkflow.restore, "good")
        again = await life.need(lost_epoch=first.lease.epoch)

        assert unknown == errors.SNAPSHOT_UNUSABLE
        assert view.head == saved.digest
        assert [each.name for each in view.snapshots] == ["before-restore", "good"]
        assert again.lease == view.lease
        assert again.restored == saved


async def test_a_snapshot_that_cannot_be_gone_back_to_changes_nothing(client: Client) -> None:
    def changed(what: str) -> None:
        if what == "lease":
            raise failing(errors.SNAPSHOT_UNUSABLE)

    async with living(client) as life:
        await life.need()
        await life.handle.execute_update(SandboxWorkflow.snapshot, "good")
        life.script.trouble = changed
        refused = await refusal(life.handle.execute_update(SandboxWorkflow.restore, "good"))
        view = await life.view()

        assert refused == errors.SNAPSHOT_UNUSABLE
        assert view.state is ASLEEP
        assert view.head == view.snapshots[0].digest
        assert view.snapshots[0].name == "before-restore"


async def test_a_fork_shares_the_past_and_nothing_else(client: Client) -> None:
    fork = f"f{uuid.uuid4().hex[:12]}"
    async with living(client) as life:
        first = await life.need()
        name = await life.handle.execute_update(SandboxWorkflow.fork, fork)
        begun = await life.until(ASLEEP, owner=fork)
        awake = await life.of(fork).execute_update(SandboxWorkflow.resume)
        taken = await refusal(life.handle.execute_update(SandboxWorkflow.fork, fork))
        bad = await refusal(life.handle.execute_update(SandboxWorkflow.fork, "../x"))
        await life.of(fork).execute_update(SandboxWorkflow.destroy)

        assert name == fork
        assert begun.snapshots == (life.script.saved[0],)
        assert awake.lease is not None
        assert awake.lease.restored == life.script.saved[0].digest
        assert awake.lease.sandbox_id != first.lease.sandbox_id
        assert (taken, bad) == (errors.BAD_NAME, errors.BAD_NAME)
        view = await life.view()
        assert (view.lease, view.state) == (first.lease, ACTIVE)


async def test_a_fork_can_begin_with_an_earlier_snapshot(client: Client) -> None:
    fork = f"f{uuid.uuid4().hex[:12]}"
    async with living(client) as life:
        await life.need(snapshot="step-1")
        await life.need(snapshot="step-2")
        await life.handle.execute_update("fork", args=[fork, "step-1"])
        begun = await life.until(ASLEEP, owner=fork)
        missing = await refusal(life.handle.execute_update("fork", args=[f"{fork}x", "step-9"]))
        await life.of(fork).execute_update(SandboxWorkflow.destroy)

        assert [each.name for each in begun.snapshots] == ["step-1"]
        assert missing == errors.SNAPSHOT_UNUSABLE


async def test_a_person_who_finds_it_lost_gets_another(client: Client) -> None:
    async with living(client) as life:
        first = await life.need(snapshot="step-1")
        seen = await life.handle.execute_update(SandboxWorkflow.resume, first.lease.epoch)
        again = await life.handle.execute_update(SandboxWorkflow.resume, first.lease.epoch)

        assert seen.lease is not None
        assert seen.lease.epoch > first.lease.epoch
        assert seen.lease.restored == life.script.saved[0].digest
        assert again.lease == seen.lease


async def test_a_reset_gives_an_empty_sandbox_and_the_task_hears_of_it(client: Client) -> None:
    async with living(client) as life:
        first = await life.need(snapshot="step-1")
        view = await life.handle.execute_update(SandboxWorkflow.reset)
        again = await life.need(lost_epoch=first.lease.epoch)

        assert life.script.released == [first.lease]
        assert again.lease == view.lease
        assert again.lease.restored is None
        assert again.files_lost
        assert [each.name for each in view.snapshots] == ["step-1"]


async def test_a_destroyed_one_is_released_and_the_next_need_begins_anew_under_a_higher_epoch(client: Client) -> None:
    async with living(client) as life:
        first = await life.need()
        view = await life.handle.execute_update(SandboxWorkflow.destroy)
        again = await life.need(lost_epoch=first.lease.epoch)

        assert view.state is SandboxState.DESTROYED
        assert life.script.released == [first.lease]
        assert again.files_lost
        assert again.lease.epoch > first.lease.epoch


async def test_a_cancelled_one_cleans_up(client: Client) -> None:
    async with living(client) as life:
        first = await life.need()
        await life.handle.cancel()
        with pytest.raises(WorkflowFailureError) as caught:
            await life.handle.result()

        assert isinstance(caught.value.cause, CancelledError)
        assert life.script.released == [first.lease]
