"""Every engine gives the trees of its sandboxes, with every name that is in them, and fills them."""

from collections.abc import AsyncIterator, Mapping

import pytest
import pytest_asyncio

from contracts.sandbox import Command, LeaseRequest, SandboxLost
from sandbox.choice import choose_driver
from sandbox.driver import Driver
from sandbox.drivers import docker
from sandbox.engine import Engine as EngineClient
from sandbox.hardening import MOUNTS, volumes
from sandbox.session import OpenSandbox
from sandbox.snapshots.archive_tree import ArchiveTree
from sandbox.snapshots.tree import Tree
from tests.sandbox.engines import Engine
from tests.sandbox.trees import nodes_of, poured

MANY = r"""
set -e
mkdir -p a/b twins closed; echo hi > a/b/f; ln a/b/f twins/g; ln -s /etc/passwd link; ln -s nowhere gone
mkfifo fifo; printf x > $'bad\xff\xfename'; printf y > '中文 名'; printf z > $'new\nline'
truncate -s 3M sparse; echo end >> sparse; head -c 2500000 /dev/zero | tr '\0' q > big; : > empty
echo closed > closed/f; chmod 0 closed/f closed; chmod 4755 a/b/f; touch -d '2001-02-03 04:05:06 UTC' a/b empty
"""
LEFT_OUT = {b"./a/b/f", b"./twins/g", b"./fifo"}
"""Of the first two names the setuid bit, of the last all."""
SHOW = r"""
chmod 755 closed; find . -printf '%p|%y|%m|%u|%s|%l|%n\n' | sort; chmod 644 closed/f
find . -type f -exec sha256sum {} + | sort; stat -c %Y empty a/b; chmod 0 closed/f closed
"""


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def sandbox(
    engine: Engine, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[tuple[OpenSandbox, OpenSandbox, Driver]]:
    """Two sandboxes, and the driver that made them."""
    state = tmp_path_factory.mktemp("state")
    host = await engine.host(state)
    driver = await choose_driver(state_dir=state, driver=engine.driver, runtime=engine.runtime, image="base")
    leases = [await host.lease(LeaseRequest(task_id=name, user_id="u")) for name in ("full", "fresh")]
    yield await host.open(leases[0]), await host.open(leases[1]), driver
    await host.sweep([])
    await host.close()
    await driver.close()


@pytest.mark.asyncio(loop_scope="module")
async def test_a_tree_of_a_sandbox_comes_back_in_another_one(
    sandbox: tuple[OpenSandbox, OpenSandbox, Driver],
) -> None:
    full, fresh, driver = sandbox
    assert (await full.run(Command(script=MANY))).exit_code == 0
    await fresh.run(Command(script="mkdir -p old/er; echo before > old/er/f; chmod 0 old"))
    before = await driver.trees(full.lease.sandbox_id)
    after = await driver.trees(fresh.lease.sandbox_id)

    await poured(before["workspace"], after["workspace"])

    there, here = await full.run(Command(script=SHOW)), await fresh.run(Command(script=SHOW))
    assert here.stderr.head == b""
    lost = set(there.stdout.head.splitlines()) ^ set(here.stdout.head.splitlines())
    assert {line.partition(b"|")[0] for line in lost} == LEFT_OUT, "setuid bits, and a fifo"
    assert (await fresh.run(Command(script="cat link | head -c 4; echo >> 'new\nline'"))).stdout.head == b"root"


@pytest.mark.asyncio(loop_scope="module")
async def test_records_of_calls_belong_to_the_home_tree(sandbox: tuple[OpenSandbox, OpenSandbox, Driver]) -> None:
    full, _, driver = sandbox
    await full.run(Command(script="mkdir -p ~/.asos/calls; echo done > ~/.asos/calls/once"))

    found = await nodes_of((await driver.trees(full.lease.sandbox_id))["home"])

    assert found[".asos/calls/once"].size == 5


@pytest.mark.asyncio(loop_scope="module")
async def test_the_space_that_its_folders_take_is_told(sandbox: tuple[OpenSandbox, OpenSandbox, Driver]) -> None:
    full, _, driver = sandbox
    before = await driver.disk_bytes(full.lease.sandbox_id)
    await full.run(Command(script="head -c 5000000 /dev/urandom > ~/much; truncate -s 1G ~/nothing; ln ~/much ~/same"))

    after = await driver.disk_bytes(full.lease.sandbox_id)

    await full.run(Command(script="rm ~/much ~/same ~/nothing"))
    assert before is not None
    assert after is not None
    assert 4_900_000 < after - before < 6_000_000


@pytest.mark.asyncio(loop_scope="module")
async def test_a_sandbox_that_is_gone_has_no_trees(sandbox: tuple[OpenSandbox, OpenSandbox, Driver]) -> None:
    *_, driver = sandbox

    with pytest.raises(SandboxLost):
        await driver.trees("asos-test-there-is-none")
    with pytest.raises(SandboxLost):
        await driver.disk_bytes("asos-test-there-is-none")


@pytest.mark.asyncio(loop_scope="module")
async def test_an_engine_out_of_reach_gives_and_takes_the_same_as_one_stream(
    sandbox: tuple[OpenSandbox, OpenSandbox, Driver],
) -> None:
    full, fresh, driver = sandbox
    if not isinstance(driver, docker.Driver):
        pytest.skip("bubblewrap's folders are always within reach")
    assert (await full.run(Command(script="chmod 700 closed; rm -rf -- * ; " + MANY))).exit_code == 0
    client = EngineClient("", "en")
    before, after = (_archives(client, box.lease.sandbox_id) for box in (full, fresh))
    await driver.pause(full.lease.sandbox_id)
    try:
        await poured(before["workspace"], after["workspace"])
    finally:
        await driver.resume(full.lease.sandbox_id)
        await client.close()

    there, here = await full.run(Command(script=SHOW)), await fresh.run(Command(script=SHOW))
    lost = set(there.stdout.head.splitlines()) ^ set(here.stdout.head.splitlines())
    assert {line.partition(b"|")[0] for line in lost} == LEFT_OUT


def _archives(client: EngineClient, sandbox_id: str) -> Mapping[str, Tree]:
    return {
        tree: ArchiveTree(client, sandbox_id, volume, MOUNTS[tree], docker.UID)
        for tree, volume in volumes(sandbox_id).items()
    }
