"""Which driver an installation gets, and what is said when it cannot work."""

from pathlib import Path

import pytest

from contracts.sandbox import Command, Lease, LeaseRequest, SandboxLost, SandboxUnavailable
from contracts.texts import sandbox as texts
from contracts.texts.sentence import Sentence
from sandbox.choice import choose_driver, make_host
from sandbox.doctor import gaps
from sandbox.engine import engine_address
from sandbox.host import SandboxHost
from tests.sandbox.engines import Engine


def silent(tmp_path: Path) -> str:
    return f"unix://{tmp_path}/no-engine.sock"


async def test_without_an_engine_bubblewrap_is_taken(tmp_path: Path) -> None:
    chosen = await choose_driver(state_dir=tmp_path, docker_host=silent(tmp_path))

    assert chosen.name == "bubblewrap"


async def test_a_named_engine_that_is_absent_is_told_with_the_remedy(tmp_path: Path) -> None:
    host = await make_host(host_id="t", state_dir=tmp_path, driver="docker", docker_host=silent(tmp_path))

    with pytest.raises(SandboxUnavailable, match=r"no-engine\.sock.*Start it"):
        await host.lease(LeaseRequest(task_id="t", user_id="u"))

    await host.close()


async def test_a_lease_of_an_absent_engine_is_lost(tmp_path: Path) -> None:
    host = await make_host(host_id="t", state_dir=tmp_path, driver="docker", docker_host=silent(tmp_path))
    lease = Lease(
        sandbox_id="x", task_id="t", host_id="t", task_queue="q", epoch=1, driver="docker", runtime="runc", image="i"
    )

    with pytest.raises(SandboxLost):
        await host.open(lease)

    await host.close()


async def test_the_doctor_names_an_absent_engine(tmp_path: Path) -> None:
    found = {gap.part: gap.text for gap in await gaps(docker_host=silent(tmp_path))}

    assert "docker.io" in found["engine"]
    assert "namespaces" not in found


@pytest.mark.parametrize(
    "sentence", [value for value in vars(texts).values() if isinstance(value, Sentence)], ids=lambda one: one.en[:20]
)
def test_every_sentence_takes_the_same_values_in_both_languages(sentence: Sentence) -> None:
    values = dict.fromkeys(
        ("address", "cause", "image", "runtime", "known", "program", "package", "count", "host", "port"), 7
    )

    assert sentence.say("en", **values).count("7") == sentence.say("zh", **values).count("7")


async def test_an_unknown_image_is_told(engine: Engine, tmp_path: Path) -> None:
    if engine.driver != "docker":
        pytest.skip("bubblewrap has no images")
    host = await engine.host(tmp_path)

    with pytest.raises(SandboxUnavailable, match="no-such-image"):
        await host.lease(LeaseRequest(task_id="t", user_id="u", image="no-such-image"))

    await host.close()


async def test_an_unknown_runtime_is_told(engine: Engine, tmp_path: Path) -> None:
    if engine.driver != "docker":
        pytest.skip("bubblewrap has no runtimes")
    host = await make_host(host_id="t", state_dir=tmp_path, driver="docker", runtime="no-such", image="base")

    with pytest.raises(SandboxUnavailable, match=r"no-such.*runc"):
        await host.lease(LeaseRequest(task_id="t", user_id="u"))

    await host.close()


async def test_a_sandbox_that_dies_is_lost_and_replaced(engine: Engine, home: SandboxHost, tmp_path: Path) -> None:
    lease = await home.lease(LeaseRequest(task_id="t", user_id="u"))
    sandbox = await home.open(lease)
    driver = await choose_driver(state_dir=tmp_path, driver=engine.driver, image="base")
    await driver.destroy(lease.sandbox_id)

    with pytest.raises(SandboxLost):
        await sandbox.run(Command(script="true"))

    again = await home.lease(LeaseRequest(task_id="t", user_id="u", previous_epoch=lease.epoch))
    assert (await (await home.open(again)).run(Command(script="echo new"))).stdout.head == b"new\n"
    await home.release(again)
    await driver.close()


async def test_a_paused_sandbox_stands_still_and_goes_on(engine: Engine, home: SandboxHost, tmp_path: Path) -> None:
    lease = await home.lease(LeaseRequest(task_id="t", user_id="u"))
    sandbox = await home.open(lease)
    await sandbox.run(Command(script="echo kept > file; nohup sleep 3000 >/dev/null 2>&1 &"))
    driver = await choose_driver(state_dir=tmp_path, driver=engine.driver, image="base")

    await driver.pause(lease.sandbox_id)
    paused = await driver.find(lease.sandbox_id)
    await driver.resume(lease.sandbox_id)

    assert paused is not None
    assert paused.state == "paused"
    again = await sandbox.run(Command(script="cat file; pgrep -fc '^sleep 3000'"))
    assert again.stdout.head == b"kept\n1\n"
    await home.release(lease)
    await driver.close()


def test_the_engines_address_is_the_one_given() -> None:
    assert engine_address("tcp://127.0.0.1:1") == "tcp://127.0.0.1:1"
