"""Pulled, the switch ends what is under way, cuts the way out, and no sandbox is made or woken."""

import asyncio
import time
from pathlib import Path

import pytest

from contracts.kill import Halted
from contracts.messages import HostGrant
from contracts.sandbox import Command, LeaseRequest, SandboxLost
from sandbox.braking import braked
from sandbox.choice import make_host
from sandbox.host import SandboxHost
from sandbox.house import HouseRules
from sandbox.slaying import Quarters, Slain, end, freeze
from tests.brakes import Pulled, kill_of
from tests.sandbox.proxies import Proxy, connect, get, origin, proxy


async def test_work_that_is_forbidden_never_begins() -> None:
    begun: list[str] = []

    async def work() -> None:
        begun.append("work")

    with pytest.raises(Halted, match="console:anna"):
        await braked(work(), kill_of)

    assert begun == []


async def test_work_under_way_ends_and_has_cleared_up_when_the_stop_is_told() -> None:
    brake, said = Pulled(), list[str]()

    async def work() -> None:
        brake.forbidden.add("tool")
        try:
            await asyncio.sleep(60)
        finally:
            said.append("cleared up")

    with pytest.raises(Halted):
        await braked(work(), lambda: brake.halted("tool"))

    assert said == ["cleared up"]


async def test_work_that_nobody_stops_gives_its_result_and_its_error() -> None:
    async def fine() -> int:
        return 7

    async def bad() -> int:
        raise LookupError("7")

    assert await braked(fine(), lambda: None) == 7
    with pytest.raises(LookupError):
        await braked(bad(), lambda: None)


def halting(it: Proxy, brake: Pulled) -> None:
    it.egress._halted = lambda: brake.halted("network", "t1")


async def test_a_request_is_refused_with_its_reason_and_passes_again_after_the_lift() -> None:
    brake = Pulled("network")
    async with origin() as port, proxy(HostGrant(host="a.test", port=port, address=f"127.0.0.1:{port}")) as it:
        halting(it, brake)

        refused = await it.ask(get(f"http://a.test:{port}/"))
        tunnel = await it.ask(connect(f"a.test:{port}"))
        brake.forbidden.clear()
        passed = await it.ask(get(f"http://a.test:{port}/"))

        assert b"403 Forbidden" in refused
        assert b"X-Asos-Reason: halted" in refused
        assert b"console:anna" in refused
        assert b"X-Asos-Reason: halted" in tunnel
        assert b"200 OK" in passed
        assert [(record.reason, record.allowed) for record in it.records[:2]] == [("halted", False)] * 2


async def test_an_open_tunnel_is_cut() -> None:
    brake = Pulled()
    async with origin() as port, proxy(HostGrant(host="a.test", port=port, address=f"127.0.0.1:{port}")) as it:
        halting(it, brake)
        reader, writer = await asyncio.open_connection("127.0.0.1", it.port)
        writer.write(connect(f"a.test:{port}"))
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"echo\nstill open")
        await reader.readuntil(b"still open")

        brake.forbidden.add("network")

        assert await asyncio.wait_for(reader.read(), 20) == b""
        assert (await it.recorded(1))[0].reason == "halted"
        writer.close()


async def test_no_sandbox_is_made_or_woken_and_what_was_leased_can_be_revoked(tmp_path: Path) -> None:
    brake = Pulled()
    host = await make_host(
        host_id="test", state_dir=tmp_path, driver="bubblewrap", memory_mb=512, house=HouseRules(brake=brake)
    )
    try:
        request = LeaseRequest(task_id="t1", user_id="u")
        lease = await host.lease(request)
        await (await host.open(lease)).files.write("kept", b"x")
        brake.forbidden.add("sandbox")

        with pytest.raises(Halted):
            await host.lease(request.model_copy(update={"task_id": "t2"}))
        with pytest.raises(Halted):
            await host.lease(request)
        with pytest.raises(Halted):
            await host.resume(lease)
        assert host.revoke("t2") == []
        assert host.revoke("t1") == [lease.sandbox_id]
        with pytest.raises(SandboxLost):
            await host.open(lease)

        brake.forbidden.clear()
        assert (await host.lease(request)).epoch > lease.epoch
    finally:
        host.revoke(None)
        await host.close()


async def test_sandboxes_end_from_outside_whoever_serves_them(home: SandboxHost, tmp_path: Path) -> None:
    first = await home.lease(LeaseRequest(task_id="t1", user_id="u"))
    second = await home.lease(LeaseRequest(task_id="t2", user_id="u"))
    place = Quarters(first.host_id, tmp_path)
    assert place.of_task("t2") == {second.sandbox_id}

    frozen = await asyncio.to_thread(freeze, place)
    assert set(frozen.sandboxes) == {first.sandbox_id, second.sandbox_id}
    until = time.monotonic() + 20
    while {one.state for one in await home.hosted()} != {"paused"}:
        assert time.monotonic() < until
        await asyncio.sleep(0.05)

    ended = await asyncio.to_thread(end, place, place.of_task("t1"))
    assert ended == Slain((first.sandbox_id,))
    assert {one.sandbox_id: one.state for one in await home.hosted()} == {
        first.sandbox_id: "dead",
        second.sandbox_id: "paused",
    }

    await (await home.open(second)).run(Command(argv=("true",)))
    assert await asyncio.to_thread(end, place) == Slain((second.sandbox_id,))
    assert await asyncio.to_thread(end, Quarters("nobody", tmp_path / "nowhere")) == Slain()


async def test_an_engine_that_does_not_answer_is_named(tmp_path: Path) -> None:
    (tmp_path / "installation").write_text("0123abcd")

    said = await asyncio.to_thread(end, Quarters("test", tmp_path, "tcp://127.0.0.1:9"))

    assert "127.0.0.1:9" in said.problem
