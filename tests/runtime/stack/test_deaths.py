"""Any process of the stack may be killed at any moment."""

import os
import signal
from functools import partial
from itertools import pairwise

import psutil
import pytest

from runtime.stack.down import down
from runtime.stack.state import StackState, read_state
from tests.runtime.stack.conftest import Site, eventually


def _state(site: Site) -> StackState:
    state = read_state(site.paths.stack_state)
    assert state is not None
    return state


def _pid(site: Site, name: str) -> int:
    part = next(part for part in _state(site).parts if part.name == name)
    return part.mark.pid if part.mark else 0


def _restarts(site: Site, name: str) -> int:
    return next(part.restarts for part in _state(site).parts if part.name == name and part.phase == "running")


def _all_run(site: Site) -> bool:
    return all(part.phase == "running" for part in _state(site).parts)


def _is_replaced(site: Site, name: str, pid: int) -> bool:
    return _pid(site, name) not in (0, pid) and _all_run(site)


def test_each_killed_part_starts_again_and_the_others_go_on(site: Site) -> None:
    site.up(site.temporal, site.worker, site.gateway)
    pids = {name: _pid(site, name) for name in ("temporal", "worker", "gateway")}

    for name, pid in pids.items():
        os.kill(pid, signal.SIGKILL)
        eventually(partial(_is_replaced, site, name, pid))

    assert {name: _restarts(site, name) for name in pids} == dict.fromkeys(pids, 1)
    assert all(not psutil.pid_exists(pid) for pid in pids.values())


def test_a_killed_part_takes_its_group_along(site: Site) -> None:
    site.up(site.stand_in("worker", site.worker_port, "--child"))
    worker = _pid(site, "worker")
    child = psutil.Process(worker).children()[0]

    os.kill(worker, signal.SIGKILL)

    eventually(lambda: not child.is_running() or child.status() == psutil.STATUS_ZOMBIE)


def test_a_part_that_keeps_dying_is_started_ever_more_slowly(site: Site) -> None:
    site.up(site.stand_in("worker", site.worker_port, "--mortal"))

    eventually(lambda: site.words().count("started worker") == 4, seconds=20)
    times = site.times_of("started worker")

    gaps = [later - earlier for earlier, later in pairwise(times)]
    assert gaps[2] > gaps[0]


def test_up_after_a_killed_supervisor_clears_the_rest_and_starts_anew(site: Site) -> None:
    site.up(site.temporal, site.stand_in("worker", site.worker_port, "--runaway"), site.gateway)
    old = set(site.pids())
    supervisor = _state(site).supervisor.pid
    os.kill(supervisor, signal.SIGKILL)
    os.waitpid(supervisor, 0)
    assert set(site.pids()) == old - {supervisor}

    outcome = site.up(site.temporal, site.worker, site.gateway)

    assert outcome.failure is None
    assert not outcome.was_running
    assert old & set(site.pids()) == set()


def test_down_after_a_killed_supervisor_leaves_nothing(site: Site) -> None:
    site.up(site.stand_in("worker", site.worker_port, "--deaf", "--runaway", "--child"), site.gateway)
    supervisor = _state(site).supervisor.pid
    os.kill(supervisor, signal.SIGKILL)
    os.waitpid(supervisor, 0)

    outcome = down(site.paths)

    assert outcome.leftovers >= 2
    assert site.pids() == []
    assert site.run_files() == []


def test_a_supervisor_killed_while_it_starts_leaves_nothing_after_down(site: Site) -> None:
    site.up(site.worker, site.stand_in("gateway", site.gateway_port, "--silent"), wait=False)
    eventually(lambda: "started gateway" in site.words())
    supervisor = _state(site).supervisor.pid
    os.kill(supervisor, signal.SIGKILL)
    os.waitpid(supervisor, 0)

    down(site.paths)

    assert site.pids() == []
    assert site.run_files() == []


def test_a_recorded_pid_that_now_belongs_to_another_process_is_left_alone(site: Site) -> None:
    site.up()
    supervisor = _state(site).supervisor.pid
    os.kill(supervisor, signal.SIGKILL)
    os.waitpid(supervisor, 0)
    stranger = psutil.Popen(["sleep", "60"])
    text = site.paths.stack_state.read_text()
    site.paths.stack_state.write_text(text.replace(f'"pid": {_pid(site, "worker")}', f'"pid": {stranger.pid}'))

    down(site.paths)

    assert stranger.is_running()
    stranger.kill()
    stranger.wait()
    assert site.pids() == []


@pytest.mark.parametrize("rubbish", [b"", b"{", b'{"phase": "running"}', b"\xff\x00"])
def test_a_damaged_state_file_does_not_stop_up_or_down(site: Site, rubbish: bytes) -> None:
    site.up()
    supervisor = _state(site).supervisor.pid
    os.kill(supervisor, signal.SIGKILL)
    os.waitpid(supervisor, 0)
    site.paths.stack_state.write_bytes(rubbish)

    outcome = site.up()

    assert outcome.failure is None
    assert len(site.pids()) == 3
