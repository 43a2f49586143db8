"""An engine dies or hangs, a disk is full: what is lost is said, all else goes on, and nothing is left."""

import asyncio
import gc
import os
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from contracts.sandbox import LeaseRequest, SandboxLost, SandboxUnavailable, SnapshotFailed
from sandbox import engine as engines
from sandbox.drivers.docker import Driver
from tests.sandbox.engines import ENGINES
from tests.sandbox.host_stores import store_in
from tests.sandbox.test_sleep import asked, said
from tests.sandbox.test_warm import keeping, until
from tests.second_engine import SecondEngine, second_engine

pytestmark = pytest.mark.engine

RUNC = ENGINES["runc"]
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="a second engine and a small disk need root")


@pytest.fixture(scope="module")
def second() -> Iterator[SecondEngine]:
    with second_engine("agent-sandbox-os/base:latest") as engine:
        yield engine


@as_root
async def test_what_an_engine_takes_with_it_is_lost_and_comes_back_from_its_snapshot(
    second: SecondEngine, tmp_path: Path
) -> None:
    making = RUNC.host(tmp_path, docker_host=second.address, snapshots=store_in(tmp_path))
    async with keeping(making) as host:
        lease, other = await host.lease(asked("t")), await host.lease(asked("other"))
        await said(host, lease, "echo kept > file")
        snapshot = await host.snapshot(lease, "step-1")
        running = asyncio.create_task(said(host, lease, "touch begun; sleep 1000"))
        await until_begun(second, lease.sandbox_id)

        second.cut_power()

        # what runs is told so, and so is who comes now; giving up is no error
        with pytest.raises(SandboxLost, match=second.address):
            await running
        with pytest.raises(SandboxLost):
            await host.open(lease)
        with pytest.raises(SandboxUnavailable, match=second.address):
            await host.lease(asked("new"))
        with pytest.raises(SandboxUnavailable, match=second.address):
            await host.sweep([lease])
        await host.release(other)

        second.start()

        with pytest.raises(SandboxLost):
            await host.open(lease)
        again = await host.lease(asked("t", snapshot.digest, lease.epoch))
        assert await said(host, again, "cat file") == "kept"
        report = await host.sweep([again])
        assert report.left == ()
        await until(lambda: [row.sandbox_id for row in host._register.rows] == [again.sandbox_id])
        assert [one.sandbox_id for one in await host.hosted()] == [again.sandbox_id]


@as_root
async def test_an_engine_that_hangs_for_a_while_has_lost_nothing(
    second: SecondEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engines, "CALL_SECONDS", 1)
    async with keeping(RUNC.host(tmp_path, docker_host=second.address)) as host:
        lease = await host.lease(asked("t"))
        running = asyncio.create_task(said(host, lease, "touch begun; until [ -e end ]; do sleep 0.1; done; echo done"))
        await until_begun(second, lease.sandbox_id)

        second.signal(signal.SIGSTOP)
        try:
            # Side by side: it hangs for a while, and not for longer than a stream bears.
            said_to = await asyncio.gather(host.lease(asked("new")), host.hosted(), return_exceptions=True)
        finally:
            second.signal(signal.SIGCONT)

        assert all(isinstance(each, SandboxUnavailable) and second.address in str(each) for each in said_to)

        assert not running.done()
        await (await host.open(lease)).files.write("end", b"")
        assert await running == "done"
        assert await host.lease(asked("t")) == lease


async def test_a_socket_that_takes_calls_and_never_answers_holds_up_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with silent(tmp_path / "first.sock") as address:
        # given: more calls under way than a process has threads for other work
        driver = Driver(docker_host=address)
        finding = [asyncio.create_task(driver.find(f"s{number}")) for number in range(40)]
        await asyncio.sleep(0)

        answered = await asyncio.to_thread(lambda: "other work")

        assert answered == "other work"
        assert not any(one.done() for one in finding)
    outcomes = await asyncio.gather(*finding, return_exceptions=True)
    assert all(isinstance(one, SandboxUnavailable) for one in outcomes)
    await driver.close()

    # and: whoever asks for a sandbox is told where nobody answers
    monkeypatch.setattr(engines, "CALL_SECONDS", 1)
    with silent(tmp_path / "second.sock") as address:
        host = await RUNC.host(tmp_path / "state", docker_host=address)
        with pytest.raises(SandboxUnavailable, match=rf"{address}.*timed out"):
            await host.lease(LeaseRequest(task_id="t", user_id="u"))
        await host.close()
    gc.collect()  # a socket that was left open would be told of now


@as_root
async def test_a_full_disk_under_the_register_is_said_and_afterwards_nothing_is_left(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk") as disk:
        async with keeping(RUNC.host(disk, snapshots=store_in(tmp_path))) as host:
            lease = await host.lease(asked("t"))
            await said(host, lease, "echo kept > file")
            ballast = fill(disk)

            with pytest.raises(SandboxUnavailable, match=r"sandboxes\.db"):
                await host.lease(asked("new"))
            with pytest.raises(SnapshotFailed, match=r"sandboxes\.db"):
                await host.sleep(lease, "idle")
            with pytest.raises(SandboxUnavailable, match=r"sandboxes\.db"):
                await host.release(lease)
            assert await said(host, lease, "cat file") == "kept"

            ballast.unlink()

            snapshot = await host.sleep(lease, "idle")
            again = await host.lease(asked("t", snapshot.digest, lease.epoch))
            assert await said(host, again, "cat file") == "kept"
            report = await host.sweep([again])
            assert report.left == ()
            assert [one.owner for one in await host.hosted()] == ["t"]


@as_root
async def test_while_the_store_of_snapshots_is_full_sandboxes_stay_as_they_are(tmp_path: Path) -> None:
    with small_disk(tmp_path / "snapshots") as disk:
        async with keeping(RUNC.host(tmp_path, snapshots=store_in(tmp_path))) as host:
            lease = await host.lease(asked("t"))
            await said(host, lease, "head -c 3000000 /dev/urandom > file; sleep 1000 >/dev/null 2>&1 & echo $! > pid")
            ballast = fill(disk)

            for attempt in (host.snapshot(lease, "step-1"), host.sleep(lease, "idle")):
                with pytest.raises(SnapshotFailed, match="is full"):
                    await attempt
            assert await said(host, lease, "kill -0 $(cat pid) && wc -c < file") == "3000000"

            ballast.unlink()

            snapshot = await host.sleep(lease, "idle")
            again = await host.lease(asked("t", snapshot.digest, lease.epoch))
            assert await said(host, again, "wc -c < file") == "3000000"


async def until_begun(second: SecondEngine, sandbox_id: str) -> None:
    """Seen from outside: a question to the sandbox would wait for what runs there."""
    workspace = second.folder / "data" / "volumes"
    await until(lambda: bool(list(workspace.glob(f"{sandbox_id}*/_data/begun"))))


@contextmanager
def silent(path: Path) -> Iterator[str]:
    """The address of something that takes every connection and says nothing until it is gone."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen(1_000)
        yield f"unix://{path}"


@contextmanager
def small_disk(folder: Path) -> Iterator[Path]:
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m,mode=700", "asos-test", folder], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


def fill(disk: Path) -> Path:
    """A file that takes all the room there is."""
    ballast = disk / "ballast"
    free = os.statvfs(disk)
    with ballast.open("wb", buffering=0) as file:
        file.write(b"\0" * (free.f_bavail * free.f_frsize))
    return ballast
