"""Pull the plug on any process at the worst moment: the task finishes by itself, and nothing happens twice."""

import sqlite3
from pathlib import Path

import pytest

from tests.e2e.inside import containers_of, wait_for_file
from tests.e2e.stack import Installation, eventually, installation

pytestmark = pytest.mark.timeout(600)

RISKY = "/run python3 -c 'print(1)'"
"""Code that policy cannot read: it asks."""

PLAN = """/plan
steps:
  - id: write
    tool: shell
    args: {{script: "{write}"}}
  - id: read
    tool: shell
    after: [write]
    args: {{script: "python3 -c 'print(open(\\"file\\").read())'"}}
answer: "it says {{{{ steps.read.stdout }}}}"
"""
"""Its second step asks, and until then its sandbox is frozen."""

COUNT = (
    "/run echo ran >> /workspace/count; touch /workspace/begun; sleep {seconds}; wc -l < /workspace/count;"
    " touch /workspace/ended"
)
"""Its answer says how often it has run."""


def test_a_worker_killed_while_a_command_runs_joins_it_again(running: Installation) -> None:
    with running.start("ask", COUNT.format(seconds=12), "--json") as asking:
        wait_for_file(running, "begun")
        killed = running.kill("worker")
        running.wait_for_another("worker", killed)
        out, err = asking.communicate(timeout=200)

    status = running.status()
    assert asking.returncode == 0, out + err
    assert "\n1\n" in status["answer"]


def test_a_worker_killed_between_an_effect_and_its_record_does_not_repeat_it(running: Installation) -> None:
    with running.start("ask", COUNT.format(seconds=3), "--json") as asking:
        wait_for_file(running, "begun")
        with sqlite3.connect(running.data_dir / "audit" / "ledger.db", isolation_level=None) as ledger:
            # While this lock is held, the effect can happen and cannot be recorded.
            ledger.execute("BEGIN EXCLUSIVE")
            wait_for_file(running, "ended")
            killed = running.kill("worker")
            ledger.execute("ROLLBACK")
        running.wait_for_another("worker", killed)
        out, err = asking.communicate(timeout=200)

    status = running.status()
    assert asking.returncode == 0, out + err
    assert "\n1\n" in status["answer"]


def test_an_approval_and_the_frozen_sandbox_outlive_the_worker_that_asked(running: Installation) -> None:
    asked = running.asos("ask", PLAN.format(write="echo kept > file"), "--json", "--no-wait")
    assert asked.code == 3, asked.out + asked.err
    eventually(lambda: True if sandbox_state(running) == "paused" else None)
    killed = running.kill("worker")
    running.wait_for_another("worker", killed)

    approved = eventually(lambda: running.asos("approve", "last") if running.status() else None)
    ended = running.until(lambda status: status["outcome"])

    assert approved.code == 0, approved.err
    assert (ended["outcome"], ended["notes"]) == ("done", []), ended
    assert "it says kept" in ended["answer"]


@pytest.mark.slow
def test_a_worker_killed_while_it_saves_a_sandbox_and_again_when_that_sleeps(tmp_path: Path) -> None:
    with installation(tmp_path, {"ASOS_SANDBOX_IDLE_SECONDS": "0.5"}) as given:
        write = "head -c 700000000 /dev/urandom > large; echo kept > file"
        asked = given.asos("ask", PLAN.format(write=write), "--json", "--no-wait")
        assert asked.code == 3, asked.out + asked.err
        eventually(lambda: True if any(given.data_dir.glob("snapshots/unfinished/*")) else None)
        killed = given.kill("worker")
        given.wait_for_another("worker", killed)
        eventually(lambda: True if sandbox_state(given) == "asleep" else None)
        killed = given.kill("worker")
        given.wait_for_another("worker", killed)

        approved = eventually(lambda: given.asos("approve", "last") if given.status() else None)
        ended = given.until(lambda status: status["outcome"])
        eventually(lambda: None if containers_of(given) else True)

    assert approved.code == 0, approved.err
    assert ended["outcome"] == "done", ended
    assert "it says kept" in ended["answer"]


def sandbox_state(given: Installation) -> str | None:
    """None while no worker answers."""
    shown = given.asos("sandbox", "show", "last", "--json")
    return shown.json["state"] if shown.code == 0 else None


def test_a_server_killed_while_a_command_runs_is_no_loss(running: Installation) -> None:
    with running.start("ask", COUNT.format(seconds=8), "--json") as asking:
        wait_for_file(running, "begun")
        killed = running.kill("temporal")
        running.wait_for_another("temporal", killed)
        out, err = asking.communicate(timeout=250)

    status = running.status()
    assert asking.returncode == 0, out + err
    assert "\n1\n" in status["answer"]


def test_everything_killed_at_once_goes_on_after_the_next_up(running: Installation) -> None:
    asked = running.asos("ask", RISKY, "--json", "--no-wait")
    assert asked.code == 3, asked.out + asked.err
    task = asked.json["task_id"]
    for name in ("worker", "gateway", "temporal"):
        running.kill(name)
    running.asos("down")

    assert running.asos("up", "--json").code == 0
    assert eventually(lambda: running.asos("approve", task) if running.status(task) else None).code == 0
    assert running.until(lambda status: status["outcome"], task)["outcome"] == "done"


def test_down_leaves_no_process_and_the_end_of_a_task_no_sandbox(alone: Installation) -> None:
    with alone.start("ask", COUNT.format(seconds=1), "--json") as asking:
        wait_for_file(alone, "begun")
        during = containers_of(alone)
        asking.communicate(timeout=200)
    eventually(lambda: None if containers_of(alone) else True)
    pids = [alone.part(name)["mark"]["pid"] for name in ("worker", "gateway", "temporal")]

    assert alone.asos("down").code == 0

    assert len(during) == 1
    assert not containers_of(alone)
    assert not [pid for pid in pids if Path(f"/proc/{pid}").exists()]
    assert not list((alone.data_dir / "run").glob("*.json"))
