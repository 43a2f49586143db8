"""Scenarios of sandboxes: frozen, asleep, lost, reclaimed and forked, with the tasks that use them."""

from temporalio.client import Client

from contracts import errors
from contracts.activities import Demands, RunOutcome, RunRequest
from contracts.lifecycle import Lifetimes, SandboxState
from contracts.planning import Reply
from contracts.queues import sandbox_workflow_id
from tests.histories.scenario import approval, by_name, end
from tests.workflows.life import living
from tests.workflows.places import failing
from tests.workflows.saying import asks, decision, scripted
from tests.workflows.stage import Script, call, calls, ok, on_stage
from workflows.sandbox import SandboxWorkflow
from workflows.task import TaskWorkflow

LS, DONE = calls(call(script="ls")), Reply(text="done")
SHORT = Lifetimes(idle_seconds=0.1)
GONE_AT_ONCE = Lifetimes(idle_seconds=0.1, retention_days=0.000_002)


async def waiting_freezes_and_wakes(client: Client) -> list[str]:
    script = scripted(LS, calls(call("risky")), DONE)
    script.lifetimes = SHORT
    script.verdict = lambda request: asks(request) if request.call.tool == "risky" else Script().verdict(request)
    async with on_stage(client, script) as on:
        handle = await on.start()
        asked = await approval(on, handle)
        task_id = (await handle.query(TaskWorkflow.status)).record.task_id
        await on.until_sandbox(task_id, SandboxState.ASLEEP)
        await handle.execute_update(TaskWorkflow.decide, decision(asked))
        told = await end(handle)
        await on.until_sandbox(task_id, SandboxState.ASLEEP)
        return [*told, sandbox_workflow_id(task_id)]


async def lost_host_restored_from_snapshot(client: Client) -> list[str]:
    def lost_once(request: RunRequest) -> RunOutcome:
        if len(script.runs) == 2:
            script.dies()
            raise failing(errors.SANDBOX_REFUSED)
        return ok(request)

    script = scripted(LS, LS, DONE)
    script.demands = Demands(snapshot=True)
    script.tool = lost_once
    async with on_stage(client, script) as on:
        handle = await on.start()
        told = await end(handle)
        task_id = (await handle.query(TaskWorkflow.status)).record.task_id
        await on.until_sandbox(task_id, SandboxState.ASLEEP)
        return [*told, sandbox_workflow_id(task_id)]


async def reclaimed_and_back(client: Client) -> list[str]:
    async with living(client, lifetimes=GONE_AT_ONCE, owner="reclaimed") as life:
        first = await life.need()
        await life.waits()
        await life.until(SandboxState.RECLAIMED)
        await life.need(lost_epoch=first.lease.epoch)
        await life.handle.execute_update(SandboxWorkflow.destroy)
        return [life.handle.id]


async def forked(client: Client) -> list[str]:
    async with living(client, owner="forked") as life:
        await life.need(snapshot="step-1")
        await life.handle.execute_update(SandboxWorkflow.fork, args=["fork", ""])
        fork = life.of("fork")
        await fork.execute_update(SandboxWorkflow.resume)
        await fork.execute_update(SandboxWorkflow.pause)
        await life.handle.execute_update(SandboxWorkflow.restore, "step-1")
        await life.handle.execute_update(SandboxWorkflow.reset)
        for each in (fork, life.handle):
            await each.execute_update(SandboxWorkflow.destroy)
        return [life.handle.id, fork.id]


async def sandbox_continued_as_new(client: Client) -> list[str]:
    async with living(client, continue_after_events=30, owner="continued") as life:
        for number in range(1, 4):
            await life.need(snapshot=f"step-{number}")
            await life.waits()
        await life.until(SandboxState.PAUSED)
        await life.ends()
        await life.until(SandboxState.ASLEEP)
        return [life.handle.id]


SANDBOXES = by_name(
    waiting_freezes_and_wakes,
    lost_host_restored_from_snapshot,
    reclaimed_and_back,
    forked,
    sandbox_continued_as_new,
)
