"""Leases, epochs, sweeping and survival, on every engine."""

import asyncio
import signal
import subprocess
import sys
from pathlib import Path

import docker
import psutil
import pytest

from contracts.messages import HostGrant
from contracts.sandbox import Command, HostFull, Lease, LeaseRequest, SandboxLost
from sandbox.engine import engine_address
from sandbox.host import SandboxHost
from tests.sandbox.engines import ENGINES, Engine
from tests.sandbox.test_warm import keeping


def asked(task_id: str, previous_epoch: int = 0, egress: tuple[HostGrant, ...] = ()) -> LeaseRequest:
    return LeaseRequest(task_id=task_id, user_id="u", previous_epoch=previous_epoch, egress=egress)


def remains(lease: Lease, state_dir: Path) -> list[str]:
    """Everything that still bears the name of a sandbox: containers, volumes, processes, folders."""
    found = [str(path) for path in state_dir.rglob(f"*{lease.sandbox_id}*")]
    if lease.driver == "docker":
        client = docker.APIClient(base_url=engine_address(""))
        found += [one["Id"] for one in client.containers(all=True, filters={"name": lease.sandbox_id})]
        found += [one["Name"] for one in client.volumes(filters={"name": lease.sandbox_id})["Volumes"] or []]
        client.close()
    return found


def processes_with(word: str) -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter():
        try:
            if word in process.cmdline() and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except psutil.Error:
            continue
    return found


async def test_a_second_lease_gives_the_same_sandbox(home: SandboxHost) -> None:
    first = await home.lease(asked("t"))

    second = await home.lease(asked("t"))

    assert first == second
    assert first.epoch == 1
    assert first.task_queue == "asos-host-test"


async def test_a_lost_lease_is_followed_by_a_fresh_sandbox_and_refused(home: SandboxHost) -> None:
    old = await home.lease(asked("t"))
    sandbox = await home.open(old)
    await sandbox.files.write("mark", b"old")

    new = await home.lease(asked("t", previous_epoch=old.epoch))

    assert new.epoch == old.epoch + 1
    with pytest.raises(SandboxLost):
        await home.open(old)
    with pytest.raises(SandboxLost):
        await sandbox.run(Command(script="true"))
    assert [entry.name for entry in await (await home.open(new)).files.list(".")] == []
    await home.release(old)
    assert (await (await home.open(new)).run(Command(script="echo there"))).stdout.head == b"there\n"


async def test_after_a_restart_older_leases_are_still_refused(
    engine: Engine, home: SandboxHost, tmp_path: Path
) -> None:
    old = await home.lease(asked("t"))
    new = await home.lease(asked("t", previous_epoch=old.epoch, egress=(HostGrant(host="a.example"),)))
    await home.close()

    again = await engine.host(tmp_path)

    with pytest.raises(SandboxLost):
        await again.open(old)
    assert (await (await again.open(new)).run(Command(script="echo there"))).stdout.head == b"there\n"
    assert await again.lease(asked("t")) == new
    await again.release(new)
    await again.close()


@pytest.mark.parametrize("engine", ["bubblewrap"], indirect=True)
async def test_nothing_is_done_under_another_epoch_than_the_newest(home: SandboxHost) -> None:
    lease = await home.lease(asked("t", previous_epoch=4))

    for epoch in (4, 6):
        other = lease.model_copy(update={"epoch": epoch})
        for act in (home.open, home.pause, home.resume):
            with pytest.raises(SandboxLost, match=f"lease {epoch} .* 5 is"):
                await act(other)
        for keep in (home.snapshot, home.sleep):
            with pytest.raises(SandboxLost, match=f"lease {epoch} .* 5 is"):
                await keep(other, "name")


@pytest.mark.parametrize("engine", ["bubblewrap"], indirect=True)
async def test_an_older_lease_gives_no_sandbox_up(home: SandboxHost) -> None:
    lease = await home.lease(asked("t", previous_epoch=4))

    await home.release(lease.model_copy(update={"epoch": 4}))

    assert await home.lease(asked("t")) == lease


async def test_nothing_is_left_after_release(home: SandboxHost, tmp_path: Path) -> None:
    lease = await home.lease(asked("t"))
    sandbox = await home.open(lease)
    await sandbox.run(Command(script="mkdir -m 0 locked; setsid sleep 86313 & mkdir -p a/b; chmod 500 a"))
    if lease.runtime != "runsc":  # whose processes the machine does not see
        assert processes_with("86313")

    await home.release(lease)
    await home.close()

    assert remains(lease, tmp_path) == []
    assert processes_with("86313") == []
    with pytest.raises(SandboxLost):
        await home.open(lease)
    await home.release(lease)


async def test_sweeping_removes_the_dead_and_nobody_else(engine: Engine, home: SandboxHost, tmp_path: Path) -> None:
    living, dead = await home.lease(asked("living")), await home.lease(asked("dead"))
    async with keeping(engine.host(tmp_path / "neighbour")) as neighbour:
        theirs = await neighbour.lease(asked("dead"))

        report = await home.sweep([living])

        assert remains(dead, tmp_path) == []
        assert (report.sandboxes, report.left) == (1, ())
        assert [one.owner for one in await home.hosted()] == ["living"]
        assert (await (await neighbour.open(theirs)).run(Command(script="echo there"))).stdout.head == b"there\n"
    await home.release(living)


async def test_a_full_host_says_so(engine: Engine, tmp_path: Path) -> None:
    async with keeping(engine.host(tmp_path, most=1)) as small:
        lease = await small.lease(asked("one"))

        with pytest.raises(HostFull, match=r"max_sandboxes\b"):
            await small.lease(asked("two").model_copy(update={"user_id": "another"}))

        await small.sweep([])
        await small.release(lease)
        await small.release(await small.lease(asked("two")))


async def test_a_command_outlives_the_process_that_asked_for_it(
    request: pytest.FixtureRequest, engine: Engine, tmp_path: Path
) -> None:
    # given: a process that runs a command in a sandbox, and is killed in the middle of it
    name = next(name for name, one in ENGINES.items() if one == engine)
    script = "echo once >> effect.txt; echo begun; sleep 8; cat effect.txt; exit 5"
    words = [sys.executable, "-m", "tests.sandbox.holder", name, str(tmp_path), "t", script]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as holder:  # noqa: ASYNC220  a start is quick
        request.addfinalizer(holder.kill)
        assert holder.stdout is not None
        while await asyncio.to_thread(holder.stdout.readline) in (b"0\n",):
            pass
        holder.send_signal(signal.SIGKILL)

    # when: another process asks for the same call
    host = await engine.host(tmp_path)
    sandbox = await host.open(await host.lease(asked("t")))
    outcome = await sandbox.run(Command(script=script, call_id="the call"))

    # then: it joins, and the effect is there once
    assert (outcome.exit_code, outcome.stdout.head, outcome.joined) == (5, b"begun\nonce\n", True)
    await host.sweep([])
    await host.close()
