"""What the kill switch does to a call, a thought and a lease: nothing begins, and what runs ends."""

import asyncio
from pathlib import Path

import pytest
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from activities.leasing import Leasing
from activities.planner import DraftReply, PlannerContext, Thought
from activities.planning import Thinking
from contracts import errors
from contracts.activities import AcquireRequest
from contracts.kill import Halted
from contracts.lifecycle import Lifetimes
from contracts.planning import PlanRequest
from contracts.sandbox import LeaseRequest
from tests.brakes import Pulled, kill_of
from tests.tools.acting_parts import OneHost, Rig, call, request
from tests.tools.conftest import LEASE, MemoryBlobs
from tests.tools.local_sandbox import LocalSandbox
from workers.placing import Placing
from workers.watching import Watching

TICKS = call("shell", {"script": "while true; do echo tick >> ticks; sleep 0.05; done"})


@pytest.fixture
def rig(blobs: MemoryBlobs, sandbox: LocalSandbox) -> Rig:
    return Rig(blobs, OneHost(sandbox), brake=Pulled())


def pulled(rig: Rig) -> Pulled:
    assert isinstance(rig.brake, Pulled)
    return rig.brake


def ticks(folder: Path) -> int:
    file = folder / "ticks"
    return len(file.read_text().splitlines()) if file.exists() else 0


async def test_no_call_begins_and_it_may_be_made_again_as_if_nothing_had_been(rig: Rig, sandbox: LocalSandbox) -> None:
    pulled(rig).forbidden.add("tool")

    with pytest.raises(ApplicationError, match="console:anna") as refusal:
        await ActivityEnvironment().run(rig.acting.run_tool, request(call("shell", {"script": "echo x >> ticks"})))

    assert (refusal.value.type, refusal.value.non_retryable, refusal.value.details) == (errors.HALTED, True, (False,))
    assert rig.ledger.entries == {}
    pulled(rig).forbidden.clear()
    await ActivityEnvironment().run(rig.acting.run_tool, request(call("shell", {"script": "echo x >> ticks"})))
    assert ticks(sandbox.workspace) == 1


async def test_a_running_command_ends_and_is_in_doubt_afterwards(rig: Rig, sandbox: LocalSandbox) -> None:
    running = asyncio.ensure_future(ActivityEnvironment().run(rig.acting.run_tool, request(TICKS)))
    async with asyncio.timeout(30):
        while not ticks(sandbox.workspace):  # noqa: ASYNC110  the command can set no event
            await asyncio.sleep(0.02)

    pulled(rig).forbidden.add("tool")

    with pytest.raises(ApplicationError) as refusal:
        await running
    ended = ticks(sandbox.workspace)
    await asyncio.sleep(0.3)  # six more, if it still ran
    assert ticks(sandbox.workspace) == ended
    assert (refusal.value.type, refusal.value.details) == (errors.HALTED, (True,))
    assert [entry[2] for entry in rig.ledger.entries.values()] == [None]


class Slow:
    """A planner that says when it was asked, and thinks for ever."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()
        self.ended = False

    async def next_step(self, context: PlannerContext) -> Thought:
        self.asked.set()
        try:
            await asyncio.sleep(600)
        finally:
            self.ended = True
        return Thought(draft=DraftReply(text="never"))


@pytest.mark.parametrize(("forbids", "outside"), [("model", False), ("network", True)])
async def test_no_thought_begins_and_one_under_way_ends(blobs: MemoryBlobs, forbids: str, outside: bool) -> None:
    planner, brake = Slow(), Pulled()
    thinking = Thinking(planner=planner, tools={}, blobs=blobs, brake=brake, model="some/model" if outside else "")
    asked = PlanRequest(task_id="t1", step=1, language="en", transcript_ref=None, additions=())
    running = asyncio.ensure_future(ActivityEnvironment().run(thinking.plan, asked))
    await planner.asked.wait()

    brake.forbidden.add(forbids)  # type: ignore[arg-type]  # one of the two above

    with pytest.raises(ApplicationError) as refusal:
        await running
    assert (refusal.value.type, planner.ended) == (errors.HALTED, True)
    planner.asked.clear()
    with pytest.raises(ApplicationError):
        await ActivityEnvironment().run(thinking.plan, asked)
    assert not planner.asked.is_set()


async def test_rules_that_need_no_network_think_on_while_it_is_cut(blobs: MemoryBlobs) -> None:
    brake = Pulled("network")
    thinking = Thinking(planner=Quick(), tools={}, blobs=blobs, brake=brake)

    outcome = await ActivityEnvironment().run(
        thinking.plan, PlanRequest(task_id="t1", step=1, language="en", transcript_ref=None, additions=())
    )

    assert outcome.next_step.kind == "reply"


class Quick:
    """A planner that is done."""

    async def next_step(self, context: PlannerContext) -> Thought:
        return Thought(draft=DraftReply(text="done"))


async def test_a_lease_that_the_host_refuses_is_told_as_halted(blobs: MemoryBlobs, sandbox: LocalSandbox) -> None:
    host = OneHost(sandbox, problem=Halted(kill_of()))

    with pytest.raises(ApplicationError) as refusal:
        await ActivityEnvironment().run(
            Leasing(host, Keeps()).lease_sandbox, LeaseRequest(task_id=LEASE.task_id, user_id="u")
        )

    assert (refusal.value.type, refusal.value.non_retryable) == (errors.HALTED, True)


class Keeps:
    """Keeps nothing."""

    async def reclaim(self, owner: str, latest: str) -> None:
        return None


async def test_no_need_reaches_the_server_and_the_wait_for_the_lift_ends_with_it() -> None:
    brake = Pulled("sandbox")
    placing = Placing(None, Lifetimes(), brake)  # type: ignore[arg-type]  # the server must not be asked
    watching = Watching(None, brake)  # type: ignore[arg-type]  # nor here

    with pytest.raises(ApplicationError) as refusal:
        await ActivityEnvironment().run(
            placing.acquire_sandbox, AcquireRequest(task_id="t1", user_id="u", number=1, lost_epoch=0)
        )
    with pytest.raises(ApplicationError) as waiting:
        await ActivityEnvironment().run(watching.await_lift, "t1")
    assert (refusal.value.type, refusal.value.non_retryable) == (errors.HALTED, True)
    assert (waiting.value.type, waiting.value.non_retryable) == (errors.HALTED, False)

    brake.forbidden.clear()
    await ActivityEnvironment().run(watching.await_lift, "t1")
