"""The ordinary life of a stack."""

import asyncio
import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from runtime.stack.down import down
from runtime.stack.report import report
from runtime.stack.state import read_state
from tests.runtime.stack.conftest import Site, eventually


def test_parts_start_in_order_and_stop_in_reverse_order(site: Site) -> None:
    outcome = site.up()

    assert outcome.failure is None
    assert outcome.state is not None
    assert [part.phase for part in outcome.state.parts] == ["running", "running"]

    down(site.paths)

    assert site.words() == ["started worker", "started gateway", "stopped gateway", "stopped worker"]


def test_down_leaves_no_process_and_no_file(site: Site) -> None:
    site.up(site.stand_in("worker", site.worker_port, "--child", "--runaway"), site.gateway)
    assert len(site.pids()) >= 4

    outcome = down(site.paths)

    assert outcome.was_running
    assert site.pids() == []
    assert site.run_files() == []


def test_down_of_nothing_does_nothing(site: Site) -> None:
    first = down(site.paths)
    site.up()
    down(site.paths)
    third = down(site.paths)

    assert not first.was_running
    assert not third.was_running
    assert third.leftovers == 0


def test_a_second_up_finds_the_running_stack(site: Site) -> None:
    first = site.up()
    second = site.up()

    assert first.state is not None
    assert second.state is not None
    assert not first.was_running
    assert second.was_running
    assert second.state.supervisor == first.state.supervisor
    assert site.words() == ["started worker", "started gateway"]


def test_of_many_ups_at_once_one_starts_the_stack(site: Site) -> None:
    with ThreadPoolExecutor(4) as pool:
        outcomes = list(pool.map(lambda _: site.up(), range(4)))

    assert [outcome.failure for outcome in outcomes] == [None] * 4
    assert sorted(outcome.was_running for outcome in outcomes) == [False, True, True, True]
    assert site.words() == ["started worker", "started gateway"]


def test_without_waiting_up_returns_while_the_parts_still_start(site: Site) -> None:
    outcome = site.up(site.stand_in("worker", site.worker_port, "--silent"), wait=False)

    assert outcome.state is not None
    assert outcome.state.phase == "starting"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_to_the_foreground_stops_in_order(site: Site, number: signal.Signals) -> None:
    with site.command("foreground") as process:
        eventually(lambda: "started gateway" in site.words() and site.phase() == "running")
        process.send_signal(number)
        assert process.wait(20) == 0

    assert site.words()[-2:] == ["stopped gateway", "stopped worker"]
    assert site.pids() == []
    assert site.run_files() == []


def test_a_second_signal_kills_what_is_too_slow(site: Site) -> None:
    deaf = site.stand_in("worker", site.worker_port, "--deaf", stops_within_seconds=300.0)
    with site.command("foreground", deaf) as process:
        eventually(lambda: site.phase() == "running")
        process.send_signal(signal.SIGINT)
        eventually(lambda: site.phase() == "stopping")
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 1

    assert site.pids() == []
    assert site.run_files() == []


def test_ctrl_c_during_up_stops_what_had_started(site: Site) -> None:
    with site.command("up", site.worker, site.stand_in("gateway", site.gateway_port, "--silent")) as process:
        eventually(lambda: "started gateway" in site.words())
        process.send_signal(signal.SIGINT)
        process.wait(20)

    assert site.pids() == []
    assert site.run_files() == []
    assert "stopped worker" in site.words()


def test_a_part_that_ignores_sigterm_is_killed_after_its_time(site: Site) -> None:
    site.up(site.stand_in("worker", site.worker_port, "--deaf", stops_within_seconds=0.5))

    began = time.monotonic()
    down(site.paths)

    assert time.monotonic() - began < 10
    assert site.pids() == []


async def test_status_tells_of_running_killed_and_stopped_stacks(site: Site) -> None:
    before = await report(site.paths)
    outcome = site.up()
    running = await report(site.paths)
    assert outcome.state is not None
    os.kill(outcome.state.supervisor.pid, signal.SIGKILL)
    await asyncio.to_thread(os.waitpid, outcome.state.supervisor.pid, 0)
    abandoned = await report(site.paths)
    down(site.paths)
    after = await report(site.paths)

    assert [found.phase for found in (before, running, abandoned, after)] == [
        "stopped",
        "running",
        "abandoned",
        "stopped",
    ]
    assert running.healthy
    assert [part.healthy for part in running.parts] == [True, True]
    assert all(part.pid and psutil.pid_exists(part.pid) for part in running.parts)
    assert not abandoned.healthy


def test_a_program_of_others_does_not_see_our_variables(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASOS_TELEGRAM_TOKEN", "1234567890:canary")

    site.up(site.worker.model_copy(update={"sees_environment": False}), site.gateway)

    state = read_state(site.paths.stack_state)
    assert state is not None
    seen = [psutil.Process(part.mark.pid).environ() for part in state.parts if part.mark]
    assert "ASOS_TELEGRAM_TOKEN" not in seen[0]
    assert seen[1]["ASOS_TELEGRAM_TOKEN"] == "1234567890:canary"


def test_files_of_the_stack_are_for_the_owner_only(site: Site) -> None:
    site.up()

    files = [path for path in site.paths.root.rglob("*") if path.is_file()]
    assert files
    assert [path for path in files if path.stat().st_mode & 0o077] == []
