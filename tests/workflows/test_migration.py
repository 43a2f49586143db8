"""A task moves to another machine when its own is gone: two real hosts, two engines, one store of snapshots."""

import os
import uuid
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import docker
import pytest
from temporalio.client import Client
from temporalio.service import RPCError

from contracts.activities import Demands, JudgeRequest
from contracts.lifecycle import SandboxState
from contracts.planning import Reply
from contracts.sandbox import Lease, SandboxLost
from contracts.transcript import NoteTurn, ToolTurn
from contracts.verdicts import Allow, Verdict
from sandbox.host import SandboxHost
from tests.second_engine import SecondEngine, second_engine
from tests.workflows.machines import Machine
from tests.workflows.saying import asks, decision, scripted
from tests.workflows.stage import call, calls, on_stage
from workers.sweeping import sweep_once
from workflows.sandbox import SandboxWorkflow
from workflows.task import TaskWorkflow

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.engine]


@pytest.fixture
def second() -> Iterator[SecondEngine]:
    if os.geteuid() != 0:
        pytest.skip("a second engine needs root")
    with second_engine("agent-sandbox-os/base:latest") as engine:
        yield engine


def risky_asks(request: JudgeRequest) -> Verdict:
    return asks(request) if request.call.tool == "risky" else Allow()


async def test_a_task_whose_machine_is_gone_goes_on_with_its_files_on_another(
    client: Client, second: SecondEngine, tmp_path: Path
) -> None:
    names = [f"{letter}-{uuid.uuid4().hex[:8]}" for letter in "ab"]
    server = client.service_client.config.target_host
    first = Machine(server, names[0], tmp_path / "a", tmp_path / "store", second.address)
    other = Machine(server, names[1], tmp_path / "b", tmp_path / "store")
    script = scripted(
        calls(call(script="echo kept > file")), calls(call("risky", script="cat file")), Reply(text="done")
    )
    script.demands = Demands(snapshot=True)
    script.verdict = risky_asks
    async with on_stage(client, script, hosting=False) as on:
        # given: a task that waits for its person, its sandbox frozen and saved on the first machine
        async with first.working():
            handle = await on.start()
            status = await on.until(handle, lambda seen: seen.approval is not None)
            task_id = status.record.task_id
            view = await on.until_sandbox(task_id, SandboxState.PAUSED)
            second.cut_power()
        old = view.lease
        assert old is not None
        assert old.host_id == first.host_id

        async with other.working() as there:
            try:
                # when: the machine is found to be gone, and the person says yes
                await on.sandbox(task_id).execute_update(SandboxWorkflow.resume, old.epoch)
                assert status.approval is not None
                await handle.execute_update(TaskWorkflow.decide, decision(status.approval))
                await handle.result()

                # then: the call has found the file on the other one; planner and person were told
                turns = [turn for plan in script.plans for turn in plan.additions]
                assert [turn.headline for turn in turns if isinstance(turn, ToolTurn)] == ["", "kept"]
                assert [turn.code for turn in turns if isinstance(turn, NoteTurn)] == ["sandbox_restored"]
                assert (await handle.query(TaskWorkflow.status)).notes == ("sandbox_restored",)
                assert len(script.plans) == 3

                second.start()
                async with first.working() as back:
                    await is_refused(back, old)
                    report = await sweep_once(back, client, first.host_id)
                    await is_refused(back, old)
                    assert (report.sandboxes, report.left) == (1, ())
                    assert everything_at(second.address) == []
                await is_refused(there, old)
                view = await on.until_sandbox(task_id, SandboxState.ASLEEP)
                assert view.epoch == old.epoch + 1
            finally:
                with suppress(RPCError):
                    await on.sandbox(task_id).terminate()
                await there.sweep([])


async def is_refused(host: SandboxHost, lease: Lease) -> None:
    """Whatever it is used for."""
    with pytest.raises(SandboxLost):
        await host.open(lease)
    with pytest.raises(SandboxLost):
        await host.resume(lease)
    with pytest.raises(SandboxLost):
        await host.snapshot(lease, "late")
    with pytest.raises(SandboxLost):
        await host.sleep(lease, "late")


def everything_at(address: str) -> list[str]:
    """Containers and volumes of an engine."""
    client = docker.APIClient(base_url=address, version="auto")
    try:
        containers = [found["Id"] for found in client.containers(all=True)]
        return [*containers, *(found["Name"] for found in client.volumes()["Volumes"] or [])]
    finally:
        client.close()
