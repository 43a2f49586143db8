"""What a task has taken in goes wherever it can come out again: later calls, forks, further tasks, after a reset."""

import uuid
from datetime import UTC, datetime

import pytest
from temporalio.client import Client

from contracts import errors
from contracts.activities import RunOutcome, RunRequest
from contracts.blobs import BlobRef
from contracts.lifecycle import SandboxState
from contracts.planning import PlanOutcome, PlanRequest, Reply
from contracts.provenance import Provenance, TakenIn
from contracts.task import TaskRecord
from gateway.reset import retry_task
from tests.workflows.life import alone, living
from tests.workflows.saying import refusal, scripted
from tests.workflows.stage import Script, Stage, call, calls, ok
from workflows.sandbox import SandboxWorkflow
from workflows.task import TaskWorkflow

pytestmark = pytest.mark.asyncio(loop_scope="module")

LS, DONE = calls(call(script="ls")), Reply(text="done")
BOTH = TakenIn(foreign=True, private=True)


def from_web(request: RunRequest) -> RunOutcome:
    provenance = Provenance(trusted=False, origins=("web:https://a.example",), confidentiality="public")
    return ok(request).model_copy(update={"provenance": provenance})


def private(request: RunRequest) -> RunOutcome:
    return ok(request).model_copy(update={"provenance": Provenance(trusted=True, origins=("memory:1",))})


def seen_by(script: Script) -> list[tuple[bool, bool]]:
    """What each run of a tool was told of its task."""
    return [(run.judged.tainted, run.judged.private) for run in script.runs]


async def ended(on: Stage, **changes: object) -> str:
    given = on.input().model_copy(update=changes)
    result = await (await on.start(given)).result()
    return result.task_id


async def test_what_came_in_is_known_to_every_later_call_and_to_the_sandbox(client: Client) -> None:
    script = scripted(LS, LS, LS, DONE)
    outcomes = iter((ok, from_web, private))
    script.tool = lambda request: next(outcomes)(request)
    async with alone(client, script) as on:
        task_id = await ended(on)
        view = await on.until_sandbox(task_id, SandboxState.ASLEEP)

        assert seen_by(script) == [(False, False), (False, False), (True, False)]
        assert view.taken_in == BOTH


async def test_the_judge_is_given_the_transcript_that_the_planner_had(client: Client) -> None:
    script = scripted(LS, DONE)
    async with alone(client, script) as on:
        await ended(on)

        judged = script.runs[0].judged
        assert judged.transcript_ref == BlobRef(sha256=f"{1:064x}", size=1)
        assert judged.goal == "do it"


async def test_a_fork_has_taken_in_what_its_past_has(client: Client) -> None:
    fork = f"f{uuid.uuid4().hex[:12]}"
    async with living(client) as life:
        await life.need(taken_in=TakenIn(private=True))
        await life.handle.signal(SandboxWorkflow.takes_in, TakenIn(foreign=True))
        await life.handle.execute_update(SandboxWorkflow.fork, fork)
        begun = await life.until(SandboxState.ASLEEP, owner=fork)
        again = await life.need()
        await life.of(fork).execute_update(SandboxWorkflow.destroy)

        assert begun.taken_in == BOTH
        assert again.taken_in == BOTH


async def test_a_task_learns_from_the_sandbox_that_it_is_given(client: Client) -> None:
    script = scripted(LS, DONE)
    script.tool = ok
    async with living(client, script=script) as life:
        await life.need(taken_in=BOTH)
        given = life.on.input()
        record = TaskRecord(task_id=life.owner, created_at=datetime.now(UTC))
        await (await life.on.start(given.model_copy(update={"record": record}))).result()

        assert seen_by(script) == [(True, True)]


@pytest.mark.parametrize("way", ["dependency", "heir"])
async def test_a_task_that_goes_on_with_another_inherits(client: Client, way: str) -> None:
    script = scripted(LS, DONE)
    script.tool, script.taken_in = ok, BOTH if way == "dependency" else TakenIn()
    record = TaskRecord(task_id=uuid.uuid4().hex, created_at=datetime.now(UTC), dependencies=("another",))
    changes = {"record": record} if way == "dependency" else {"taken_in": BOTH}
    async with alone(client, script) as on:
        await ended(on, **changes)

        assert seen_by(script) == [(True, True)]


async def test_a_reset_does_not_make_the_sandbox_clean_again(client: Client) -> None:
    script = Script(plan_step=lambda request: LS if request.step < 4 else DONE)
    outcomes = iter((ok, ok, from_web, ok, ok))
    script.tool = lambda request: next(outcomes)(request)
    async with alone(client, script) as on:
        given = on.input()
        handle = await on.start(given)
        await handle.result()
        await retry_task(client, given.record.task_id, 2, reason="again", request_id=uuid.uuid4().hex)
        script.tool = ok
        await client.get_workflow_handle_for(TaskWorkflow.run, handle.id).result()

        assert seen_by(script)[:3] == [(False, False)] * 3
        assert seen_by(script)[3:] == [(True, True), (True, True)]


async def test_a_message_that_passes_something_on_is_taken_in(client: Client) -> None:
    def think(request: PlanRequest) -> PlanOutcome:
        ref = BlobRef(sha256=f"{request.step:064x}", size=1)
        step = LS if request.step == 1 else DONE
        return PlanOutcome(next_step=step, transcript_ref=ref, quotes=True, attaches=True)

    script = Script(plan_step=think, tool=ok)
    async with alone(client, script) as on:
        await ended(on)

        assert seen_by(script) == [(True, True)]


async def test_a_person_takes_something_back_in_a_sandbox_that_sleeps_and_not_in_one_at_work(client: Client) -> None:
    async with living(client) as life:
        await life.need()
        at_work = await refusal(life.handle.execute_update(SandboxWorkflow.undo, 3))
        await life.ends()
        await life.until(SandboxState.ASLEEP)
        undone = await life.handle.execute_update(SandboxWorkflow.undo, 3)

        assert at_work == errors.SANDBOX_BUSY
        assert (undone.step, undone.restored) == (3, ("/workspace/a.txt",))
        assert life.script.asked == ["lease", "sleep", "lease", "undo"]
