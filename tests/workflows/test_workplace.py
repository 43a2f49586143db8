"""A task and its sandbox: asked for once, let rest while the task waits, brought back when it is lost."""

import asyncio
import uuid

import pytest
from temporalio.client import Client, WorkflowFailureError
from temporalio.exceptions import ApplicationError

from contracts import errors
from contracts.activities import Demands, JudgeRequest, RunOutcome, RunRequest
from contracts.lifecycle import SandboxState
from contracts.planning import AskUser, Reply
from contracts.task import GivenAnswer, PauseRequest, Phase
from contracts.transcript import NoteTurn, ToolTurn
from contracts.verdicts import Allow, Verdict
from gateway.reset import retry_task
from tests.workflows.life import alone, signalled
from tests.workflows.places import failing
from tests.workflows.saying import asks, decision, says, scripted
from tests.workflows.stage import USER, Script, call, calls, ok
from workflows.sandbox import SandboxWorkflow
from workflows.task import TaskWorkflow

pytestmark = pytest.mark.asyncio(loop_scope="module")

LS, DONE = calls(call(script="ls")), Reply(text="done")


def notes(script: Script, step: int) -> list[str]:
    """Codes of what the planner was told of before a step."""
    return [turn.code for turn in script.plans[step - 1].additions if isinstance(turn, NoteTurn)]


def risky_asks(request: JudgeRequest) -> Verdict:
    return asks(request) if request.call.tool == "risky" else Allow()


async def test_a_task_that_works_asks_for_its_sandbox_once(client: Client) -> None:
    script = scripted(calls(call(script="a"), call(script="b")), LS, LS, DONE)
    async with alone(client, script) as on:
        handle = await on.start()
        result = await handle.result()
        await on.until_sandbox(result.task_id, SandboxState.ASLEEP)
        history = await handle.fetch_history()

        scheduled = [event.activity_task_scheduled_event_attributes.activity_type.name for event in history.events]
        assert scheduled.count("acquire_sandbox") == 1
        assert script.asked == ["lease", "sleep"]


@pytest.mark.parametrize("mode", [100, 0], ids=["kept", "replayed"], indirect=True)
async def test_its_sandbox_is_frozen_while_a_person_decides_and_the_approved_call_gets_it_back(
    client: Client, mode: None
) -> None:
    script = scripted(LS, calls(call("risky")), DONE)
    script.verdict = risky_asks
    async with alone(client, script) as on:
        handle = await on.start()
        status = await on.until(handle, lambda seen: seen.approval is not None)
        assert status.approval is not None
        await on.until_sandbox(status.record.task_id, SandboxState.PAUSED)
        await handle.execute_update(TaskWorkflow.decide, decision(status.approval))
        await handle.result()

        assert script.asked[:3] == ["lease", "pause", "resume"]
        assert script.runs[0].lease == script.runs[1].lease
        assert notes(script, 3) == []


async def test_a_task_that_never_had_a_sandbox_tells_none_that_it_waits(client: Client) -> None:
    script = scripted(AskUser(question="Which?"), DONE)
    async with alone(client, script) as on:
        handle = await on.start()
        status = await on.until(handle, lambda seen: seen.asked is not None)
        assert status.asked is not None
        answer = GivenAnswer(question_id=status.asked.question_id, turn=says("this"), by=USER)
        await handle.execute_update(TaskWorkflow.answer, answer)
        await handle.result()
        history = await handle.fetch_history()

        assert signalled(history) == []
        assert script.asked == []


async def test_it_is_not_frozen_while_another_call_still_runs(client: Client) -> None:
    go = asyncio.Event()

    async def slow(request: RunRequest) -> RunOutcome:
        await go.wait()
        return ok(request)

    script = scripted(calls(call(script="make"), call("risky")), DONE)
    script.verdict, script.tool = risky_asks, slow
    async with alone(client, script) as on:
        handle = await on.start()
        status = await on.until(handle, lambda seen: seen.approval is not None and seen.lease is not None)
        view = await on.sandbox(status.record.task_id).query(SandboxWorkflow.view)
        go.set()
        await on.until_sandbox(status.record.task_id, SandboxState.PAUSED)
        await handle.cancel()

        assert (view.state, view.working) == (SandboxState.ACTIVE, True)


async def test_a_paused_task_has_its_sandbox_frozen(client: Client) -> None:
    script = scripted(LS, AskUser(question="?"))
    async with alone(client, script) as on:
        begun, go = asyncio.Event(), asyncio.Event()

        async def held(request: RunRequest) -> RunOutcome:
            begun.set()
            await go.wait()
            return ok(request)

        script.tool = held
        handle = await on.start()
        await begun.wait()
        await handle.execute_update(TaskWorkflow.pause, PauseRequest(by=USER))
        go.set()
        status = await on.until(handle, lambda seen: seen.phase is Phase.PAUSED)

        await on.until_sandbox(status.record.task_id, SandboxState.PAUSED)
        await handle.cancel()


@pytest.mark.parametrize("asking", [True, False])
async def test_a_snapshot_that_policy_demands_is_taken_once_before_the_call(client: Client, asking: bool) -> None:
    script = scripted(LS, calls(call("risky"), call("risky")), DONE)
    script.demands = Demands(snapshot=True)
    script.verdict = risky_asks if asking else lambda _: Allow()
    async with alone(client, script) as on:
        handle = await on.start()
        for _ in range(1 if asking else 0):
            status = await on.until(handle, lambda seen: seen.approval is not None)
            assert status.approval is not None
            await on.until_sandbox(status.record.task_id, SandboxState.PAUSED)
            await handle.execute_update(TaskWorkflow.decide, decision(status.approval))
            await on.until(handle, lambda seen, put=status.approval: seen.approval != put)  # type: ignore[misc]  # the default binds it
        result = await handle.result()
        await on.until_sandbox(result.task_id, SandboxState.ASLEEP)

        assert [each.name for each in script.saved] == ["step-1", "step-2", "asleep"]


async def test_a_runtime_that_policy_demands_is_asked_for(client: Client) -> None:
    script = scripted(LS, DONE)
    script.demands = Demands(runtime="runsc")
    async with alone(client, script) as on:
        await (await on.start()).result()

        assert script.leases[0].runtime == "runsc"
        assert script.runs[0].lease is not None
        assert script.runs[0].lease.runtime == "runsc"


async def test_a_lost_sandbox_is_brought_back_and_planner_and_person_are_told(client: Client) -> None:
    script = scripted(LS, LS, DONE)
    script.demands = Demands(snapshot=True)
    script.tool = losing(script, at=2, kind=errors.SANDBOX_LOST)
    script.repeatable = True
    async with alone(client, script) as on:
        handle = await on.start()
        await handle.result()
        status = await handle.query(TaskWorkflow.status)

        assert [run.lease.epoch for run in script.runs if run.lease] == [1, 1, 2]
        assert [run.earlier and run.earlier.lease.epoch for run in script.runs] == [None, None, 1]
        assert script.leases[1].restore == script.saved[1].digest
        assert notes(script, 3) == ["sandbox_restored"]
        assert status.notes == ("sandbox_restored",)


async def test_a_sandbox_of_which_nothing_was_saved_begins_empty_and_that_is_told(client: Client) -> None:
    script = scripted(LS, LS, DONE)
    script.tool = losing(script, at=2, kind=errors.SANDBOX_LOST)
    async with alone(client, script) as on:
        handle = await on.start()
        await handle.result()

        lost = script.plans[2].additions[0]
        assert isinstance(lost, ToolTurn)
        assert lost.error == "sandbox_lost"
        assert len(script.leases) == 1


async def test_a_call_whose_lease_was_refused_has_not_begun_and_is_made_again(client: Client) -> None:
    script = scripted(LS, DONE)
    script.tool = losing(script, at=1, kind=errors.SANDBOX_REFUSED)
    async with alone(client, script) as on:
        await (await on.start()).result()

        turn = [each for each in script.plans[1].additions if isinstance(each, ToolTurn)]
        assert [run.lease.epoch for run in script.runs if run.lease] == [1, 2]
        assert script.runs[1].earlier is None
        assert turn[0].ok
        assert notes(script, 2) == ["sandbox_lost"]


async def test_a_call_under_which_every_sandbox_is_lost_fails_in_the_end(client: Client) -> None:
    def never(_: RunRequest) -> RunOutcome:
        script.dies()
        raise failing(errors.SANDBOX_REFUSED)

    script = scripted(LS, DONE)
    script.tool = never
    async with alone(client, script) as on:
        await (await on.start()).result()

        turn = [each for each in script.plans[1].additions if isinstance(each, ToolTurn)]
        assert turn[0].error == "sandbox_lost"
        assert len(script.runs) == 5


async def test_a_task_that_is_retried_finds_its_sandbox_as_it_was_left(client: Client) -> None:
    script = Script(plan_step=lambda request: (LS, LS, DONE)[request.step - 1])
    async with alone(client, script) as on:
        given = on.input()
        handle = await on.start(given)
        await handle.result()
        await on.until_sandbox(given.record.task_id, SandboxState.ASLEEP)
        script.tool = losing(script, at=3, kind=errors.SANDBOX_REFUSED)
        await retry_task(client, given.record.task_id, 2, reason="again", request_id=uuid.uuid4().hex)
        await on.client.get_workflow_handle_for(TaskWorkflow.run, handle.id).result()

        assert [run.lease.epoch for run in script.runs if run.lease] == [1, 1, 1, 2]
        assert script.leases[1].restore == script.saved[0].digest


async def test_a_stop_while_all_hosts_are_full_ends_the_waiting(client: Client) -> None:
    def full(_: str) -> None:
        raise ApplicationError("full", type=errors.HOST_FULL)

    script = scripted(LS)
    script.trouble = full
    async with alone(client, script) as on:
        handle = await on.start()
        task_id = (await handle.query(TaskWorkflow.status)).record.task_id
        await on.until(handle, lambda seen: seen.phase is Phase.LEASING)
        await until_queued(script)
        await handle.cancel()
        with pytest.raises(WorkflowFailureError):
            await handle.result()

        assert (await on.sandbox(task_id).result()).state is SandboxState.DESTROYED


async def until_queued(script: Script) -> None:
    async with asyncio.timeout(60):
        while True:
            if len(script.asked) >= 2:
                return
            await asyncio.sleep(0.02)


def losing(script: Script, *, at: int, kind: str) -> "Losing":
    return Losing(script, at, kind)


class Losing:
    """A tool whose sandbox is lost under one of its runs."""

    def __init__(self, script: Script, at: int, kind: str) -> None:
        self._script = script
        self._at = at
        self._kind = kind

    def __call__(self, request: RunRequest) -> RunOutcome:
        if len(self._script.runs) == self._at:
            self._script.dies()
            raise failing(self._kind)
        return ok(request)
