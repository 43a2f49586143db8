"""Pull the plug on any process at the worst moment: the task finishes by itself, and nothing happens twice."""

import sqlite3
from pathlib import Path

import pytest

from tests.e2e.stack import Installation, eventually

pytestmark = [pytest.mark.timeout(600), pytest.mark.xdist_group("e2e-kills")]

COUNT = "/run echo ran >> /workspace/count; touch /workspace/begun; sleep {seconds}; wc -l < /workspace/count"


def acting(status: object) -> bool:
    return isinstance(status, dict) and status["phase"] == "acting" and status["lease"] is not None


def begun(given: Installation) -> dict[str, str]:
    """Wait until the ledger knows of the call: its effect is under way."""

    def look() -> dict[str, str] | None:
        path = given.data_dir / "audit" / "ledger.db"
        with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as ledger:
            ledger.row_factory = sqlite3.Row
            row = ledger.execute("SELECT * FROM effects WHERE tool = 'shell'").fetchone()
        return dict(row) if row else None

    return eventually(look)


def test_a_worker_killed_while_a_command_runs_joins_it_again(alone: Installation) -> None:
    with alone.start("ask", COUNT.format(seconds=12), "--json") as asking:
        begun(alone)
        killed = alone.kill("worker")
        alone.wait_for_another("worker", killed)
        out, err = asking.communicate(timeout=200)

    status = alone.status()
    assert asking.returncode == 0, out + err
    assert "\n1\n" in status["answer"]


def test_a_worker_killed_between_an_effect_and_its_record_does_not_repeat_it(alone: Installation) -> None:
    with alone.start("ask", COUNT.format(seconds=3), "--json") as asking:
        begun(alone)
        with sqlite3.connect(alone.data_dir / "audit" / "ledger.db", isolation_level=None) as ledger:
            # While this lock is held, the effect can happen and cannot be recorded.
            ledger.execute("BEGIN EXCLUSIVE")
            eventually(lambda: True if _has_happened(alone) else None)
            killed = alone.kill("worker")
            ledger.execute("ROLLBACK")
        alone.wait_for_another("worker", killed)
        out, err = asking.communicate(timeout=200)

    status = alone.status()
    assert asking.returncode == 0, out + err
    assert "\n1\n" in status["answer"]


def _has_happened(given: Installation) -> bool:
    """The command has run to its end; only the time that it takes tells so from outside."""
    marks = given.data_dir / "waited"
    count = int(marks.read_text()) if marks.exists() else 0
    marks.write_text(str(count + 1))
    return count > 40


def test_an_approval_outlives_the_worker_that_asked(alone: Installation) -> None:
    asked = alone.asos("ask", "/run mkdir x && rm -r x && echo gone", "--json", "--no-wait")
    assert asked.code == 3, asked.out + asked.err
    killed = alone.kill("worker")
    alone.wait_for_another("worker", killed)

    approved = eventually(lambda: alone.asos("approve", "last") if alone.status() else None)
    ended = alone.until(lambda status: status["outcome"])

    assert approved.code == 0, approved.err
    assert ended["outcome"] == "done"


def test_a_server_killed_while_a_command_runs_is_no_loss(alone: Installation) -> None:
    with alone.start("ask", COUNT.format(seconds=8), "--json") as asking:
        begun(alone)
        killed = alone.kill("temporal")
        alone.wait_for_another("temporal", killed)
        out, err = asking.communicate(timeout=250)

    status = alone.status()
    assert asking.returncode == 0, out + err
    assert "\n1\n" in status["answer"]


def test_everything_killed_at_once_goes_on_after_the_next_up(alone: Installation) -> None:
    asked = alone.asos("ask", "/run mkdir x && rm -r x && echo gone", "--json", "--no-wait")
    assert asked.code == 3, asked.out + asked.err
    task = asked.json["task_id"]
    for name in ("worker", "gateway", "temporal"):
        alone.kill(name)
    alone.asos("down")

    assert alone.asos("up", "--json").code == 0
    assert eventually(lambda: alone.asos("approve", task) if alone.status(task) else None).code == 0
    assert alone.until(lambda status: status["outcome"], task)["outcome"] == "done"


def test_down_leaves_no_process_and_no_sandbox(tmp_path: Path, alone: Installation) -> None:
    alone.asos("ask", "/run echo hello", "--json")
    pids = [alone.part(name)["mark"]["pid"] for name in ("worker", "gateway", "temporal")]

    assert alone.asos("down").code == 0

    assert not [pid for pid in pids if Path(f"/proc/{pid}").exists()]
    assert not list((alone.data_dir / "run").glob("*.json"))
