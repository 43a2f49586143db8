"""On which host a sandbox is, and what happens if there is none."""

import asyncio
from datetime import timedelta

import pytest
from temporalio.client import Client
from temporalio.exceptions import ApplicationError

from contracts import errors
from contracts.lifecycle import SandboxState
from tests.workflows.life import living
from tests.workflows.places import failing
from tests.workflows.saying import refusal

pytestmark = pytest.mark.asyncio(loop_scope="module")

PAUSED, QUEUED = SandboxState.PAUSED, SandboxState.QUEUED


async def test_while_all_hosts_are_full_it_waits_in_a_queue_until_one_has_room(client: Client) -> None:
    full = True

    def maybe_full(what: str) -> None:
        if what == "lease" and full:
            raise ApplicationError("full", type=errors.HOST_FULL, next_retry_delay=timedelta(milliseconds=50))

    async with living(client) as life:
        life.script.trouble = maybe_full
        needed = asyncio.create_task(life.need())
        await life.asked("lease", 2)
        view = await life.view()
        full = False
        acquired = await needed

        assert view.state is QUEUED
        assert acquired.lease.epoch == 1


async def test_a_task_that_ends_in_the_queue_leaves_it(client: Client) -> None:
    def full(what: str) -> None:
        raise ApplicationError("full", type=errors.HOST_FULL, next_retry_delay=timedelta(milliseconds=50))

    async with living(client) as life:
        life.script.trouble = full
        needed = asyncio.create_task(life.need())
        await life.asked("lease", 3)
        await life.ends()

        assert await refusal(needed) == errors.SANDBOX_CLOSING
        assert (await life.handle.result()).state is SandboxState.DESTROYED


async def test_a_sandbox_that_its_task_could_not_reach_but_its_host_still_has_is_not_given_up(client: Client) -> None:
    async with living(client) as life:
        first = await life.need()
        again = await life.need(lost_epoch=first.lease.epoch)
        believed = await life.need(lost_epoch=first.lease.epoch)

        assert again.lease == first.lease
        assert not again.files_lost
        assert believed.lease.epoch == 2
        assert believed.files_lost


async def test_a_host_that_went_away_while_it_was_frozen_is_noticed_by_the_need(client: Client) -> None:
    async with living(client) as life:
        await life.need()
        await life.waits("step-1")
        await life.until(PAUSED)
        life.script.dies()
        again = await life.need()

        assert again.restored is not None
        assert again.restored.name == "step-1"
        assert again.lease.epoch == 2
        assert again.problem


async def test_another_runtime_that_policy_demands_moves_it(client: Client) -> None:
    async with living(client) as life:
        await life.need()
        moved = await life.need(runtime="runsc")

        assert moved.lease.runtime == "runsc"
        assert moved.restored is not None


async def test_without_an_engine_the_need_fails_with_the_reason_and_the_next_one_tries_again(client: Client) -> None:
    async with living(client) as life:
        life.script.trouble = no_engine
        assert await refusal(life.need()) == errors.SANDBOX_UNAVAILABLE
        assert (await life.view()).state is SandboxState.FAILED

        life.script.trouble = lambda _: None

        assert (await life.need()).lease.epoch == 1


def no_engine(what: str) -> None:
    raise failing(errors.SANDBOX_UNAVAILABLE)
