"""Sandboxes stand still, are saved, sleep and wake; what fails on the way leaves them as they were."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from contracts.sandbox import (
    Command,
    Lease,
    LeaseRequest,
    SandboxBusy,
    SandboxLost,
    SandboxUnavailable,
    SnapshotFailed,
    SnapshotUnusable,
)
from sandbox.host import SandboxHost
from sandbox.warm import WarmKind
from tests.sandbox.engines import ENGINES, Engine
from tests.sandbox.host_stores import FullStore, SlowStore, store_in
from tests.sandbox.test_warm import FASTER, keeping, until

COUNTER = "nohup sh -c 'n=0; while :; do n=$((n+1)); echo $n >/tmp/count; sleep 0.1; done' >/dev/null 2>&1 & echo $!"
BUBBLES = ENGINES["bubblewrap"]


def asked(task_id: str, restore: str | None = None, previous_epoch: int = 0) -> LeaseRequest:
    return LeaseRequest(task_id=task_id, user_id="u", restore=restore, previous_epoch=previous_epoch)


async def said(host: SandboxHost, lease: Lease, script: str) -> str:
    outcome = await (await host.open(lease)).run(Command(script=script))
    return (outcome.stdout.head + outcome.stderr.head).decode().strip()


async def state(host: SandboxHost, lease: Lease) -> str:
    return next(one.state for one in await host.hosted() if one.sandbox_id == lease.sandbox_id)


@pytest_asyncio.fixture
async def saving(engine: Engine, tmp_path: Path) -> AsyncIterator[SandboxHost]:
    """A host with a store of its own."""
    async with keeping(engine.host(tmp_path, snapshots=store_in(tmp_path))) as host:
        yield host


async def test_a_sandbox_sleeps_and_wakes_with_what_it_had(engine: Engine, saving: SandboxHost, tmp_path: Path) -> None:
    lease = await saving.lease(asked("t"))
    await said(saving, lease, f"mkdir -p a/b; echo kept > a/b/file; echo mine > ~/note; chmod 600 ~/note; {COUNTER}")

    snapshot = await saving.sleep(lease, "idle")

    # it is gone, and whoever missed the answer is given it again
    assert await saving.sleep(lease, "idle") == snapshot
    with pytest.raises(SandboxLost):
        await saving.open(lease)
    await until(lambda: saving._register.get(lease.sandbox_id) is None)
    assert await saving.hosted() == []
    # it wakes as it was, with its processes if the engine saved them
    awake = await saving.lease(asked("t", snapshot.digest, lease.epoch))
    assert (awake.epoch, awake.restored) == (lease.epoch + 1, snapshot.digest)
    assert await said(saving, awake, "cat a/b/file ~/note; stat -c %a ~/note") == "kept\nmine\n600"
    assert awake.processes_restored == (snapshot.kind == "process") == (engine.runtime == "runsc")
    if awake.processes_restored:
        before = int(await said(saving, awake, "cat /tmp/count"))
        assert await said(saving, awake, f"while [ $(cat /tmp/count) -le {before} ]; do sleep 0.1; done") == ""


async def test_a_snapshot_leaves_a_sandbox_as_it_was(saving: SandboxHost) -> None:
    lease = await saving.lease(asked("t"))
    await said(saving, lease, f"head -c 3000000 /dev/urandom > big; {COUNTER}")

    first = await saving.snapshot(lease, "one")
    await said(saving, lease, "echo more > small; pgrep -f /tmp/count")
    await saving.pause(lease)
    second = await saving.snapshot(lease, "two")

    assert await state(saving, lease) == "paused"
    assert (second.parent, first.name, second.name) == (first.digest, "one", "two")
    assert second.bytes_added < first.bytes_added / 10
    await saving.resume(lease)
    assert await state(saving, lease) == "active"
    assert await said(saving, lease, "cat small") == "more"


@pytest.mark.parametrize("engine", FASTER, indirect=True)
async def test_what_runs_for_somebody_is_not_frozen(saving: SandboxHost) -> None:
    lease = await saving.lease(asked("t"))
    sandbox = await saving.open(lease)
    running = asyncio.create_task(sandbox.run(Command(script="touch begun; until [ -e end ]; do sleep 0.05; done")))
    await until_there(saving, lease, "begun")

    for refused in (saving.pause(lease), saving.sleep(lease, "idle"), saving.snapshot(lease, "n", "process")):
        with pytest.raises(SandboxBusy):
            await refused
    live = await saving.snapshot(lease, "live")

    assert live.kind == "files"
    await sandbox.files.write("end", b"")
    assert (await running).exit_code == 0
    await saving.pause(lease)
    await saving.pause(lease)
    assert await said(saving, lease, "echo awake") == "awake"


async def test_what_starts_programs_all_the_time_can_be_frozen_at_any_moment(tmp_path: Path) -> None:
    async with keeping(BUBBLES.host(tmp_path)) as host:
        lease = await host.lease(asked("t"))
        starting = "nohup sh -c 'while :; do sleep 0.001; done' >/dev/null 2>&1 &"
        await said(host, lease, f"for n in 1 2 3 4; do {starting} done")

        for _ in range(10):
            await host.pause(lease)
            assert await state(host, lease) == "paused"
            await host.resume(lease)


@pytest.mark.parametrize("engine", ["bubblewrap", pytest.param("runsc", marks=pytest.mark.engine)], indirect=True)
async def test_one_that_cannot_be_saved_stays(engine: Engine, tmp_path: Path) -> None:
    async with keeping(engine.host(tmp_path, snapshots=FullStore(store_in(tmp_path)))) as host:
        lease = await host.lease(asked("t"))
        await said(host, lease, f"echo kept > file; {COUNTER}")

        with pytest.raises(SnapshotFailed, match="no space left"):
            await host.sleep(lease, "idle")

        assert await said(host, lease, "cat file; pgrep -fc /tmp/count") in ("kept\n1", "kept\n2")
        assert await host.lease(asked("t")) == lease


@pytest.mark.engine
@pytest.mark.parametrize("engine", ["runsc"], indirect=True)
async def test_one_whose_saving_was_cut_off_goes_on_where_it_was(engine: Engine, tmp_path: Path) -> None:
    slow = SlowStore(store_in(tmp_path))
    async with keeping(engine.host(tmp_path, snapshots=slow)) as host:
        lease = await host.lease(asked("t"))
        pid = await said(host, lease, COUNTER)
        saving = asyncio.create_task(host.sleep(lease, "idle"))
        await slow.begun.wait()
        saving.cancel()
        await asyncio.gather(saving, return_exceptions=True)

        assert await host.lease(asked("t")) == lease
        assert await said(host, lease, f"kill -0 {pid} && echo runs") == "runs"
        assert list((tmp_path / "checkpoints").iterdir()) == []


async def test_two_begin_with_one_past_and_share_nothing_else(tmp_path: Path) -> None:
    async with keeping(BUBBLES.host(tmp_path, snapshots=store_in(tmp_path), warm=1)) as host:
        await until(lambda: host.warm == {WarmKind(): 1})
        origin = await host.lease(asked("origin"))
        await said(host, origin, "echo past > file")
        snapshot = await host.snapshot(origin, "fork")
        await until(lambda: host.warm == {WarmKind(): 1})

        one, two = [await host.lease(asked(name, snapshot.digest)) for name in ("one", "two")]
        await said(host, one, "echo one > own; echo changed > file")

        assert await said(host, two, "ls; cat file") == "file\npast"
        assert await said(host, origin, "ls; cat file") == "file\npast"
        assert (one.restored, two.restored, origin.restored) == (snapshot.digest, snapshot.digest, None)


async def test_a_call_that_ran_before_a_snapshot_is_not_run_again_after_it(tmp_path: Path) -> None:
    command = Command(script="echo once >> effect; cat effect", call_id="the call")
    async with keeping(BUBBLES.host(tmp_path, snapshots=store_in(tmp_path))) as host:
        lease = await host.lease(asked("t"))
        first = await (await host.open(lease)).run(command)
        snapshot = await host.sleep(lease, "idle")

        awake = await host.lease(asked("t", snapshot.digest, lease.epoch))
        again = await (await host.open(awake)).run(command)

        assert first.stdout.head == b"once\n"
        assert again == first.model_copy(update={"joined": True})


async def test_a_snapshot_that_was_changed_is_refused_and_nothing_is_left(tmp_path: Path) -> None:
    async with keeping(BUBBLES.host(tmp_path, snapshots=store_in(tmp_path))) as host:
        lease = await host.lease(asked("t"))
        await said(host, lease, "head -c 200000 /dev/urandom > file")
        snapshot = await host.sleep(lease, "idle")
        largest = max(
            (tmp_path / "snapshots").rglob("*"), key=lambda path: path.stat().st_size if path.is_file() else 0
        )
        content = bytearray(largest.read_bytes())
        content[len(content) // 2] ^= 1
        largest.chmod(0o600)
        largest.write_bytes(content)

        with pytest.raises(SnapshotUnusable, match=snapshot.digest):
            await host.lease(asked("t", snapshot.digest, lease.epoch))
        with pytest.raises(SnapshotUnusable, match="0" * 64):
            await host.lease(asked("t", "0" * 64))

        await until(lambda: not host._register.rows)
        assert await host.hosted() == []


async def test_a_sandbox_of_another_runtime_than_demanded_is_refused(tmp_path: Path) -> None:
    async with keeping(BUBBLES.host(tmp_path)) as host:
        await host.lease(asked("t"))

        for task_id in ("t", "new"):
            with pytest.raises(SandboxUnavailable, match=r"runsc.*(bwrap|bubblewrap)"):
                await host.lease(LeaseRequest(task_id=task_id, user_id="u", runtime="runsc"))


async def until_there(host: SandboxHost, lease: Lease, name: str) -> None:
    sandbox = await host.open(lease)
    async with asyncio.timeout(60):
        while name not in [entry.name for entry in await sandbox.files.list(".")]:
            pass
