"""What is missing, full, taken or gone is said in one clear line; what was accepted goes on when the cause is gone."""

import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from tests.e2e.stack import Installation, eventually, installation, prepared
from tests.ports import free_port

pytestmark = pytest.mark.timeout(400)

RISKY = "/run python3 -c 'print(6 * 7)'"
"""Code that policy cannot read: it asks."""

NO_ENGINE = {"DOCKER_HOST": "unix:///nonexistent/docker.sock"}
DISK_MB = 64
FULL_SECONDS = 5.0


@pytest.fixture(scope="module")
def engineless(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """Nothing but bubblewrap on this machine."""
    with installation(tmp_path_factory.mktemp("engineless"), NO_ENGINE) as given:
        yield given


def test_without_an_engine_tasks_work_in_bubblewrap(engineless: Installation) -> None:
    said = engineless.asos("ask", "/run echo still-$((20 + 3))", "--json")

    assert said.code == 0, said.out + said.err
    assert "still-23" in said.json["answer"]


def test_a_second_up_finds_the_running_one(engineless: Installation) -> None:
    before = engineless.part("worker")["mark"]["pid"]

    again = engineless.asos("up", "--json")

    assert again.code == 0
    assert again.json["was_running"]
    assert engineless.part("worker")["mark"]["pid"] == before


def test_a_port_in_use_is_named_with_its_holder_and_setting(tmp_path: Path, engineless: Installation) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        other = prepared(tmp_path, {"ASOS_GATEWAY_PORT": str(port)})

        up = other.asos("up")

    assert up.code == 1
    for part in (str(port), "ASOS_GATEWAY_PORT", f"pid {os.getpid()}"):
        assert part in up.err
    assert other.asos("status").code == 1


def test_an_engine_that_is_wanted_and_absent_is_asked_about_and_the_end_is_truthful(tmp_path: Path) -> None:
    with installation(tmp_path, {**NO_ENGINE, "ASOS_SANDBOX_DRIVER": "docker"}) as asos:
        asked = asos.asos("ask", "/run echo hello", "--json", "--no-wait")
        answered = asos.asos("answer", "last", "stop")
        ended = asos.until(lambda status: status["outcome"])

    assert asked.code == 3, asked.out + asked.err
    assert "/nonexistent/docker.sock" in asked.json["asked"]["question"]
    assert answered.code == 0
    assert ended["outcome"] == "failed"
    assert "/nonexistent/docker.sock" in ended["answer"]
    assert "Traceback" not in asked.out + ended["answer"]


def test_a_browser_that_is_missing_is_said(tmp_path: Path, site: str) -> None:
    with installation(tmp_path, {"ASOS_SANDBOX_IMAGE": "base"}) as asos:
        said = asos.asos("ask", "/browse http://site.test/", "--json", "--allow-host", site)

    assert said.code == 1
    assert "Chromium" in said.json["answer"]


@pytest.mark.parametrize("command", [["ask", "/run echo hello"], ["tasks"], ["up"]])
def test_a_server_that_does_not_answer_is_one_line_with_the_remedy(tmp_path: Path, command: list[str]) -> None:
    nobody = f"127.0.0.1:{free_port()}"

    said = prepared(tmp_path, {"ASOS_TEMPORAL_ADDRESS": nobody}).asos(*command)

    assert said.code == 1
    assert said.out == ""
    assert said.err.count("\n") == 1
    assert nobody in said.err
    assert "ASOS_TEMPORAL_ADDRESS" in said.err


def test_a_stack_that_does_not_run_is_one_line_with_the_remedy(tmp_path: Path) -> None:
    said = prepared(tmp_path).asos("tasks")

    assert said.code == 1
    assert said.err.count("\n") == 1
    assert "asos up" in said.err


def test_sigterm_to_the_supervisor_ends_everything_in_order(tmp_path: Path) -> None:
    with installation(tmp_path, NO_ENGINE) as asos:
        pids = {name: asos.part(name)["mark"]["pid"] for name in ("temporal", "worker", "gateway")}
        supervisor = asos.supervisor()

        os.kill(supervisor, signal.SIGTERM)
        ended = _order_of_ending({**pids, "supervisor": supervisor})

        assert ended == ["gateway", "worker", "temporal", "supervisor"]
        assert not list((asos.data_dir / "run").iterdir())
        assert asos.asos("tasks").code == 1


def test_a_full_disk_is_said_and_nothing_that_was_accepted_is_lost(tmp_path: Path) -> None:
    with _small_disk(tmp_path / "data"), installation(tmp_path, NO_ENGINE) as asos:
        asked = asos.asos("ask", RISKY, "--json", "--no-wait")
        assert asked.code == 3, asked.out + asked.err
        ballast = asos.data_dir / "ballast"
        _fill(ballast)
        refused = asos.asos("ask", "/run echo more", "--json")
        approved = asos.asos("approve", asked.json["task_id"])
        time.sleep(FULL_SECONDS)
        ballast.unlink()

        eventually(lambda: True if approved.code == 0 or _approves(asos, asked.json["task_id"]) else None)
        ended = asos.until(lambda status: status["outcome"], asked.json["task_id"])
        after = asos.asos("ask", "/run echo goes-on-$((2 * 2))", "--json")

    assert refused.code == 1
    assert "The disk is full" in refused.err
    assert refused.err.count("\n") == 1
    assert ended["outcome"] == "done"
    assert "goes-on-4" in after.json["answer"]


def _approves(asos: Installation, task: str) -> bool:
    """What could not be stored while the disk was full is said once more."""
    return asos.asos("approve", task).code == 0


def _order_of_ending(pids: dict[str, int]) -> list[str]:
    ended: list[str] = []
    until = time.monotonic() + 60
    while len(ended) < len(pids) and time.monotonic() < until:
        ended += [name for name, pid in pids.items() if name not in ended and not _is_alive(pid)]
        time.sleep(0.01)
    return ended


def _is_alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@contextmanager
def _small_disk(folder: Path) -> Iterator[None]:
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={DISK_MB}m,mode=700", "asos-test", str(folder)]
    if os.geteuid() != 0 or subprocess.run(command, capture_output=True, check=False).returncode != 0:
        pytest.skip("only root may mount a small disk")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def _fill(path: Path) -> None:
    with path.open("wb", buffering=0) as file:
        for block in (1_048_576, 4_096):
            try:
                while True:
                    file.write(b"\0" * block)
            except OSError:
                continue
