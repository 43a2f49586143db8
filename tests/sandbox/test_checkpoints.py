"""Programs go on where a checkpoint stopped them: elsewhere, on another engine, twice; and what cannot is refused."""

import asyncio
import os
import shutil
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import docker
import pytest
import pytest_asyncio

from contracts.sandbox import SandboxBusy, SandboxLost, SnapshotFailed, SnapshotUnusable
from sandbox import checkpoints
from sandbox.driver import Found, Spec, Unsupported
from sandbox.engine import engine_address
from sandbox.limits import Limits
from sandbox.snapshots.tree import Tree
from tests.sandbox import checkpointed
from tests.sandbox.checkpointed import Unread, answers, ask, begin, run
from tests.second_engine import second_engine

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.engine]

OWNER = f"checkpoints-{uuid4().hex}"
near = pytest.mark.skipif(os.geteuid() != 0, reason="only root sees into a sandbox from outside")


@dataclass(frozen=True)
class Saved:
    """What a sandbox left behind when it was put away."""

    memory: Path
    contents: Mapping[str, bytes]
    said: Mapping[str, Any]
    """By its program, just before."""


@dataclass(frozen=True)
class Bench:
    """An engine, by its driver and by the engine's own client."""

    driver: Unread
    client: docker.APIClient

    async def create(self, megabytes: int = 1) -> str:
        spec = await self.spec()
        await begin(self.client, spec, megabytes)
        return spec.sandbox_id

    async def spec(self) -> Spec:
        image = await self.driver.resolve_image("base")
        return Spec(uuid4().hex, OWNER, image, "runsc", Limits(memory_mb=512))

    async def put_away(self, sandbox_id: str, memory: Path) -> Saved:
        said = await ask(self.client, sandbox_id, "before")
        await self.driver.checkpoint(sandbox_id, memory)
        assert await self.driver.ended(sandbox_id, 30)
        contents = await asyncio.to_thread(checkpointed.folders, self.client, sandbox_id)
        await self.driver.destroy(sandbox_id)
        return Saved(memory, contents, said)

    async def bring_back(self, saved: Saved) -> Found:
        spec = await self.spec()

        async def fill(_trees: Mapping[str, Tree]) -> None:
            await asyncio.to_thread(checkpointed.fill, self.client, spec.sandbox_id, saved.contents)

        return await self.driver.restart(spec, saved.memory, fill)

    async def names(self) -> list[str]:
        return [found.sandbox_id for found in await self.driver.owned(OWNER)]

    async def close(self) -> None:
        for name in await self.names():
            await self.driver.destroy(name)
        await self.driver.close()
        self.client.close()


def bench_of(address: str) -> Bench:
    driver = Unread(docker_host=address, runtime="runsc", image="base")
    return Bench(driver, docker.APIClient(base_url=engine_address(address), version="auto"))


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def bench() -> AsyncIterator[Bench]:
    reason = await checkpoints.process_snapshots("")
    if reason is not None:
        pytest.skip(reason)
    made = bench_of("")
    yield made
    await made.close()


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def saved(bench: Bench, tmp_path_factory: pytest.TempPathFactory) -> Saved:
    return await bench.put_away(await bench.create(megabytes=100), tmp_path_factory.mktemp("memory"))


@pytest.fixture(scope="module")
def second() -> Iterator[str]:
    if os.geteuid() != 0:
        pytest.skip("a second engine needs root")
    with second_engine("agent-sandbox-os/base:latest") as engine:
        yield engine.address


def went_on(before: Mapping[str, Any], after: Mapping[str, Any], said: str) -> bool:
    """The same memory, children, connections and open files; neither clock nor counter went back."""
    return bool(
        after["heap"] == before["heap"]
        and after["came"] == "through a connection and a child"
        and after["log"] == f"{before['log']}{said}\n"
        and after["scratch"] == f"{before['scratch']}{said}\n"
        and after["count"] >= before["count"]
        and after["ran"] >= before["ran"]
        and abs(after["now"] - time.time()) < 60
    )


async def test_a_program_goes_on_in_two_other_sandboxes_that_share_only_its_past(bench: Bench, saved: Saved) -> None:
    one, two = await asyncio.gather(bench.bring_back(saved), bench.bring_back(saved))

    said_by_one = await ask(bench.client, one.sandbox_id, "one")
    said_by_two = await ask(bench.client, two.sandbox_id, "two")
    await bench.driver.destroy(one.sandbox_id)
    await bench.driver.destroy(two.sandbox_id)

    assert one.state == two.state == "running"
    assert went_on(saved.said, said_by_one, "one")
    assert went_on(saved.said, said_by_two, "two")


async def test_a_program_goes_on_under_another_engine(second: str, saved: Saved) -> None:
    elsewhere = bench_of(second)

    found = await elsewhere.bring_back(saved)
    after = await ask(elsewhere.client, found.sandbox_id, "elsewhere")
    await elsewhere.close()

    assert went_on(saved.said, after, "elsewhere")


async def test_the_engine_alone_saves_and_brings_back_where_this_process_is_not_its_root(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    sandbox_id = await bench.create()

    kept = await bench.put_away(sandbox_id, tmp_path)
    found = await bench.bring_back(kept)
    after = await ask(bench.client, found.sandbox_id, "after")
    await bench.driver.destroy(found.sandbox_id)

    assert went_on(kept.said, after, "after")
    assert not [name for name in await bench.names() if name.endswith("carrier")]


async def test_a_paused_program_is_saved_as_it_is_and_goes_on_in_its_own_sandbox(bench: Bench, tmp_path: Path) -> None:
    sandbox_id = await bench.create()
    before = await ask(bench.client, sandbox_id, "before")
    await bench.driver.pause(sandbox_id)

    await bench.driver.checkpoint(sandbox_id, tmp_path)
    assert await bench.driver.ended(sandbox_id, 30)
    put_away = await bench.driver.find(sandbox_id)
    again = Spec(sandbox_id, OWNER, await bench.driver.resolve_image("base"), "runsc")
    await bench.driver.restart(again, tmp_path, lambda _: asyncio.sleep(0))
    after = await ask(bench.client, sandbox_id, "after")
    await bench.driver.destroy(sandbox_id)

    assert put_away is not None
    assert put_away.state == "dead"
    assert went_on(before, after, "after")


async def test_a_main_process_answers_on_its_streams_as_before(bench: Bench, tmp_path: Path) -> None:
    first, second = await bench.spec(), await bench.spec()
    checkpointed.make(bench.client, first)
    with answers(engine_address(""), first.sandbox_id) as say:
        bench.client.start(first.sandbox_id)
        assert say("") == "ready\n"
        before = say("before")

    checkpoints.save(first.sandbox_id, tmp_path, docker.APIClient.info, "en", bench.client)
    checkpointed.make(bench.client, second)
    checkpointed.fill(bench.client, second.sandbox_id, checkpointed.folders(bench.client, first.sandbox_id))
    with answers(engine_address(""), second.sandbox_id) as say:
        own = checkpoints.own_folder(second.sandbox_id, docker.APIClient.info, "en", bench.client)
        checkpoints.go_on(second.sandbox_id, own, tmp_path, "en", bench.client)
        after = say("after")
    for spec in (first, second):
        await bench.driver.destroy(spec.sandbox_id)

    assert '"log": "before\\n"' in before
    assert '"log": "before\\nafter\\n"' in after


@near
async def test_a_program_with_a_deleted_file_is_refused_and_goes_on(bench: Bench, tmp_path: Path) -> None:
    sandbox_id = await bench.create()
    await asyncio.to_thread(run, bench.client, sandbox_id, "rm", "/workspace/log")

    with pytest.raises(SandboxBusy, match="/workspace/log"):
        await bench.driver.checkpoint(sandbox_id, tmp_path)

    assert (await ask(bench.client, sandbox_id, "still"))["log"] == "begun\nstill\n"
    await bench.driver.destroy(sandbox_id)


async def test_where_nobody_can_look_before_a_deleted_file_costs_the_programs_but_not_the_folders(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    sandbox_id = await bench.create()
    await asyncio.to_thread(run, bench.client, sandbox_id, "sh", "-c", "echo kept >/workspace/kept; rm /workspace/log")

    with pytest.raises(SandboxLost, match="deleted"):
        await bench.driver.checkpoint(sandbox_id, tmp_path)

    assert b"kept" in checkpointed.folders(bench.client, sandbox_id)["/workspace"]
    await bench.driver.destroy(sandbox_id)


@near
async def test_memory_that_would_fill_the_disk_is_not_written(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoints, "SPARE_BYTES", 1 << 60)
    sandbox_id = await bench.create()
    await bench.driver.pause(sandbox_id)

    with pytest.raises(SnapshotFailed, match="Make room"):
        await bench.driver.checkpoint(sandbox_id, tmp_path)

    found = await bench.driver.find(sandbox_id)
    await bench.driver.destroy(sandbox_id)
    assert found is not None
    assert found.state == "paused"
    assert not any(tmp_path.iterdir())  # noqa: ASYNC240  an empty folder of this test


async def test_a_sandbox_with_an_open_stream_is_refused_and_one_that_ended_is_lost(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoints, "STREAM_SECONDS", 0.2)
    sandbox_id = await bench.create()
    execution = bench.client.exec_create(sandbox_id, ["sleep", "1000"])
    bench.client.exec_start(execution["Id"], detach=True)

    with pytest.raises(SandboxBusy, match="Close its terminals"):
        await bench.driver.checkpoint(sandbox_id, tmp_path)
    assert await ask(bench.client, sandbox_id, "still")

    await asyncio.to_thread(bench.client.kill, sandbox_id)
    with pytest.raises(SandboxLost, match=sandbox_id):
        await bench.driver.checkpoint(sandbox_id, tmp_path)
    await bench.driver.destroy(sandbox_id)


@pytest.mark.parametrize("fault", ["nothing was saved", "half of it", "another's files"])
async def test_what_does_not_fit_is_refused_and_leaves_nothing(
    bench: Bench, saved: Saved, tmp_path: Path, fault: str
) -> None:
    contents = {} if fault == "another's files" else saved.contents
    if fault != "nothing was saved":
        shutil.copytree(saved.memory, tmp_path, dirs_exist_ok=True)
    if fault == "half of it":
        os.truncate(tmp_path / "checkpoint.img", (tmp_path / "checkpoint.img").stat().st_size // 2)

    before = await bench.names()
    with pytest.raises(SnapshotUnusable, match="do not go on"):
        await bench.bring_back(Saved(tmp_path, contents, {}))

    assert await bench.names() == before


async def test_an_engine_that_cannot_says_what_to_set_up(bench: Bench, tmp_path: Path) -> None:
    image, limits = await bench.driver.resolve_image("base"), Limits(open_files=1_024)
    spec = Spec(uuid4().hex, OWNER, image, "runc", limits)
    await bench.driver.create(spec)
    able = {"Runtimes": {"runsc": {"path": "/usr/bin/runsc"}}, "ExperimentalBuild": True}
    networked = {"runsc": {"path": "/usr/bin/runsc", "runtimeArgs": ["--network=host"]}}

    with pytest.raises(Unsupported, match="install `runsc`"):
        await bench.driver.checkpoint(spec.sandbox_id, tmp_path)
    with pytest.raises(Unsupported, match="install `runsc`"):
        await bench.driver.restart(replace(spec, sandbox_id=uuid4().hex), tmp_path, lambda _: asyncio.sleep(0))
    await bench.driver.destroy(spec.sandbox_id)

    assert checkpoints.obstacle(able, "runsc", "en") is None
    assert '"experimental": true' in str(checkpoints.obstacle({**able, "ExperimentalBuild": False}, "runsc", "en"))
    assert "--network=none" in str(checkpoints.obstacle({**able, "Runtimes": networked}, "runsc", "en"))
    assert "No Docker engine answers" in str(await checkpoints.process_snapshots("unix:///nowhere.sock"))
