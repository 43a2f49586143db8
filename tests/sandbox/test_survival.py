"""The process of a host is killed while its sandboxes are in every state: the next one finds them, and leaves none."""

import asyncio
import secrets
import signal
import subprocess
import sys
from pathlib import Path

import docker
import pytest

from contracts.sandbox import Command, Lease, LeaseRequest, SandboxLost, SweepReport
from sandbox.engine import engine_address
from sandbox.host import SandboxHost
from tests.sandbox.doomed import STATES, Left
from tests.sandbox.engines import ENGINES, Engine
from tests.sandbox.host_stores import store_in
from tests.sandbox.test_host import processes_with, remains
from tests.sandbox.test_warm import keeping


async def doomed(request: pytest.FixtureRequest, engine: str, state_dir: Path) -> Left:
    """What a process had that was killed."""
    words = [sys.executable, "-m", "tests.sandbox.doomed", engine, str(state_dir)]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as process:  # noqa: ASYNC220  a start is quick
        request.addfinalizer(process.kill)
        assert process.stdout is not None
        line = await asyncio.to_thread(process.stdout.readline)
        process.send_signal(signal.SIGKILL)
    return Left.model_validate_json(line)


async def said(host: SandboxHost, lease: Lease, script: str) -> str:
    return (await (await host.open(lease)).run(Command(script=script))).stdout.head.decode().strip()


@pytest.mark.parametrize("engine", ["bubblewrap", pytest.param("runsc", marks=pytest.mark.engine)], indirect=True)
async def test_after_a_kill_in_every_state_one_sweep_leaves_what_is_leased_and_nothing_else(
    request: pytest.FixtureRequest, engine: Engine, tmp_path: Path
) -> None:
    left = await doomed(request, next(name for name, one in ENGINES.items() if one == engine), tmp_path)
    leases = left.leases
    kept = [leases[name] for name in (*STATES, "claimed") if name != "leaving"]
    async with keeping(engine.host(tmp_path, snapshots=store_in(tmp_path))) as host:
        report = await host.sweep(kept)

        assert report.left == ()
        await all_is_well(host, leases, kept, tmp_path)
        # what was being woken is nobody's, and wakes when it is asked for again
        woken = await host.lease(LeaseRequest(task_id="waking", user_id="u", image="base", restore=left.snapshot))
        assert await said(host, woken, "cat mark") == "pausing"
        await host.sweep([])

    assert processes_with("86311") == []
    assert [name for lease in leases.values() for name in remains(lease, tmp_path)] == []


async def all_is_well(host: SandboxHost, leases: dict[str, Lease], kept: list[Lease], state_dir: Path) -> None:
    # leaving, creating, waking and unclaimed ones are gone with all that they had
    assert {one.sandbox_id for one in await host.hosted()} == {lease.sandbox_id for lease in kept}
    assert remains(leases["leaving"], state_dir) == []
    with pytest.raises(SandboxLost):
        await host.open(leases["leaving"])
    # the others are usable, with their files, and their processes unless their checkpoint was not finished
    for lease in kept[:-1]:
        runs = "ended" if (lease.task_id, lease.runtime) == ("checkpointing", "runsc") else "runs"
        script = "cat mark; (kill -0 $(cat pid) && echo runs || echo ended) 2>/dev/null"
        assert await said(host, lease, script) == f"{lease.task_id}\n{runs}"
    # the answer to the claim was never heard: asking again gives that one
    assert await host.lease(LeaseRequest(task_id="claimed", user_id="u")) == leases["claimed"]
    assert await said(host, leases["claimed"], "echo there") == "there"


@pytest.mark.engine
@pytest.mark.parametrize("engine", ["runc"], indirect=True)
async def test_a_sweep_finds_what_no_sandbox_leads_to(engine: Engine, tmp_path: Path) -> None:
    async with keeping(engine.host(tmp_path)) as host:
        installation = (tmp_path / "installation").read_text()
        labels = {"agent-sandbox-os.owner": f"test-{installation}"}
        client = docker.APIClient(base_url=engine_address(""))
        client.create_volume(f"asos-stray-{installation}", labels=labels)
        client.create_network(f"asos-stray-{installation}", labels=labels)

        report = await host.sweep([])

        assert (report.volumes, report.networks, report.left) == (1, 1, ())
        assert client.networks(names=[f"asos-stray-{installation}"]) == []
        client.close()


async def test_a_sweep_ends_processes_whose_folder_is_gone(tmp_path: Path) -> None:
    async with keeping(ENGINES["bubblewrap"].host(tmp_path)) as host:
        lease = await host.lease(LeaseRequest(task_id="t", user_id="u"))
        seconds = str(100_000 + secrets.randbelow(1_000_000))
        await said(host, lease, f"nohup sleep {seconds} >/dev/null 2>&1 &")
        (tmp_path / "bubblewrap" / lease.sandbox_id / "record.json").unlink()

        report = await host.sweep([])

        assert report.left == ()
        assert report.processes >= 1
        assert processes_with(seconds) == []
        assert await host.sweep([]) == SweepReport()
