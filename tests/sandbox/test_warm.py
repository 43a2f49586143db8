"""Sandboxes made ahead: claimed without the engine, refilled, given up, and never too many."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from contracts.messages import HostGrant
from contracts.sandbox import Command, HostFull, Lease, LeaseRequest, SandboxUnavailable, SweepReport
from sandbox.choice import choose_driver, make_host
from sandbox.host import SandboxHost
from sandbox.house import HouseRules
from sandbox.warm import WarmKind
from tests.sandbox.engines import ENGINES, Engine
from tests.sandbox.proxies import origin

PATIENCE_SECONDS = 60.0


def asked(task_id: str, user_id: str = "u", image: str | None = None, runtime: str | None = None) -> LeaseRequest:
    return LeaseRequest(task_id=task_id, user_id=user_id, image=image, runtime=runtime)


async def until(truth: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not truth():  # noqa: ASYNC110  nobody tells what this waits for
            await asyncio.sleep(0.02)


async def states(host: SandboxHost) -> list[str]:
    return sorted(one.state for one in await host.hosted())


@asynccontextmanager
async def keeping(making: Awaitable[SandboxHost]) -> AsyncIterator[SandboxHost]:
    """A host that makes its warm sandboxes; all that it has is swept at the end."""
    host = await making
    try:
        await host.begin()
        yield host
    finally:
        await host.sweep([])
        await host.close()


BUBBLES = ENGINES["bubblewrap"]
FASTER = ["bubblewrap", pytest.param("runc", marks=pytest.mark.engine)]


async def test_a_claim_asks_nothing_of_the_engine(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with keeping(engine.host(tmp_path, warm=1)) as host:
        await until(lambda: host.warm == {WarmKind(): 1})
        with monkeypatch.context() as patch:
            for name in ("create", "find", "agent", "owned", "resolve_image"):
                patch.setattr(type(host._driver), name, _unreachable)

            lease = await host.lease(asked("t"))
            outcome = await (await host.open(lease)).run(Command(script="echo there"))

        assert outcome.stdout.head == b"there\n"
        assert (lease.task_id, lease.epoch) == ("t", 1)
        assert await host.lease(asked("t")) == lease


async def test_what_a_task_may_reach_is_open_in_a_claimed_one_and_after_a_restart(tmp_path: Path) -> None:
    granted = HostGrant(host="a.example")
    async with keeping(BUBBLES.host(tmp_path, warm=1)) as host:
        await until(lambda: host.warm == {WarmKind(): 1})

        lease = await host.lease(asked("t").model_copy(update={"egress": (granted,)}))

        (await host.open(lease)).permit([HostGrant(host="b.example")])
        assert [grant.host for grant in host._connections._grants[lease.sandbox_id].all] == ["a.example", "b.example"]
        await host.close()
        await host.begin()
        await host.open(lease)
        assert [grant.host for grant in host._connections._grants[lease.sandbox_id].all] == ["a.example", "b.example"]


async def test_what_a_claimed_one_receives_counts_for_the_task_that_claimed_it(tmp_path: Path) -> None:
    house = HouseRules()
    making = make_host(host_id="t", state_dir=tmp_path, driver="bubblewrap", warm=1, house=house, sweep_grace_seconds=0)
    async with origin() as port, keeping(making) as host:
        await until(lambda: host.warm == {WarmKind(): 1})
        granted = HostGrant(host="site.test", port=80, address=f"127.0.0.1:{port}")
        lease = await host.lease(asked("t").model_copy(update={"egress": (granted,)}))

        outcome = await (await host.open(lease)).run(Command(script="curl -sS -m 20 http://site.test/page"))

        assert outcome.stdout.head.startswith(b"GET /page")
        assert house.meters.of("t").down >= len(outcome.stdout.head)


async def test_what_was_claimed_is_made_again(tmp_path: Path) -> None:
    async with keeping(BUBBLES.host(tmp_path, warm=2)) as host:
        await until(lambda: host.warm == {WarmKind(): 2})

        leases = [await host.lease(asked(f"t{number}")) for number in range(3)]

        assert len({lease.sandbox_id for lease in leases}) == 3
        await until(lambda: host.warm == {WarmKind(): 2})
        assert await states(host) == ["active"] * 3 + ["warm"] * 2


async def test_one_that_died_is_not_given_out_and_replaced(tmp_path: Path) -> None:
    async with keeping(BUBBLES.host(tmp_path, warm=1)) as host:
        await until(lambda: host.warm == {WarmKind(): 1})
        (ahead,) = await host.hosted()
        driver = await choose_driver(state_dir=tmp_path, driver="bubblewrap")

        await driver.destroy(ahead.sandbox_id)

        lease = await host.lease(asked("t"))
        assert lease.sandbox_id != ahead.sandbox_id
        assert (await (await host.open(lease)).run(Command(script="echo there"))).stdout.head == b"there\n"
        await until(lambda: host.warm == {WarmKind(): 1})


async def test_a_demanded_runtime_is_found_among_the_warm_ones(tmp_path: Path) -> None:
    async with keeping(BUBBLES.host(tmp_path, warm={WarmKind(): 1, WarmKind(image="base"): 1})) as host:
        await until(lambda: sum(host.warm.values()) == 2)

        demanded = await host.lease(asked("t", runtime="bwrap"))

        assert demanded.runtime == "bwrap"
        assert host.warm == {WarmKind(image="base"): 1}
        with pytest.raises(SandboxUnavailable, match="runsc"):
            await host.lease(asked("another", runtime="runsc"))


@pytest.mark.parametrize("engine", FASTER, indirect=True)
async def test_unclaimed_ones_are_gone_when_the_host_closes(engine: Engine, tmp_path: Path) -> None:
    host = await engine.host(tmp_path, warm=1)
    await host.begin()
    await until(lambda: host.warm == {WarmKind(): 1})

    await host.close()

    assert host.warm == {}
    again = await engine.host(tmp_path)
    assert await again.hosted() == []
    assert await again.sweep([]) == SweepReport()
    await again.close()


async def test_a_warm_one_gives_way_to_one_of_another_kind(tmp_path: Path) -> None:
    async with keeping(BUBBLES.host(tmp_path, warm=1, most=1, wait_seconds=30.0)) as host:
        await until(lambda: host.warm == {WarmKind(): 1})

        lease = await host.lease(asked("t", image="base"))

        assert [one.sandbox_id for one in await host.hosted()] == [lease.sandbox_id]


async def test_those_who_wait_get_places_in_the_order_in_which_they_came(tmp_path: Path) -> None:
    async with keeping(BUBBLES.host(tmp_path, most=1, wait_seconds=30.0)) as host:
        order: list[str] = []

        async def through(task_id: str) -> None:
            lease = await host.lease(asked(task_id))
            order.append(task_id)
            await host.release(lease)

        await asyncio.gather(*(through(f"t{number}") for number in range(4)))

        assert order == ["t0", "t1", "t2", "t3"]


async def test_a_person_with_all_their_places_does_not_keep_others_waiting(tmp_path: Path) -> None:
    async with keeping(BUBBLES.host(tmp_path, most=3, most_per_user=1)) as host:
        mine = await host.lease(asked("a", user_id="me"))

        with pytest.raises(HostFull, match="max_sandboxes_per_user"):
            await host.lease(asked("b", user_id="me"))
        await host.lease(asked("c", user_id="you"))

        await host.release(mine)
        await until(lambda: not _is_known(host, mine))
        await host.lease(asked("b", user_id="me"))


async def test_without_an_engine_nothing_is_made_ahead_and_the_remedy_is_told(tmp_path: Path) -> None:
    silent = f"unix://{tmp_path}/no-engine.sock"
    host = await make_host(host_id="t", state_dir=tmp_path, driver="docker", docker_host=silent, warm=1)
    await host.begin()

    with pytest.raises(SandboxUnavailable, match=r"no-engine\.sock"):
        await host.lease(asked("t"))

    assert host.warm == {}
    await host.close()


def _is_known(host: SandboxHost, lease: Lease) -> bool:
    return host._register.get(lease.sandbox_id) is not None


async def _unreachable(*_: object) -> None:
    raise AssertionError("the engine was asked")
