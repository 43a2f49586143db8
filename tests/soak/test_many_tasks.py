"""After many tasks the processes hold about as much as after a few."""

from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from tests.e2e.stack import Installation, installation

PARTS = ("worker", "gateway")
AT_ONCE = 3
WARM_UP = 4
"""Rounds after which everything that is made on first use is there."""
MEMORY_GROWTH_MB = 60
HANDLES_GROWTH = 12


@dataclass(frozen=True)
class Held:
    """What one process holds."""

    memory_mb: float
    handles: int
    children: int


def held(given: Installation, name: str) -> Held:
    process = psutil.Process(int(given.part(name)["mark"]["pid"]))
    return Held(process.memory_info().rss / 1e6, process.num_fds(), len(process.children(recursive=True)))


def round_of_tasks(given: Installation) -> None:
    asking = [given.start("ask", "/run seq 20000", "--json") for _ in range(AT_ONCE)]
    try:
        for each in asking:
            out, err = each.communicate(timeout=200)
            assert each.returncode == 0, out + err
    finally:
        for each in asking:
            each.kill()
            each.wait()


@pytest.mark.slow
def test_many_tasks_leave_no_memory_and_no_handles_behind(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    rounds: int = request.config.getoption("--rounds")
    with installation(tmp_path) as given:
        for _ in range(WARM_UP):
            round_of_tasks(given)
        before = {name: held(given, name) for name in PARTS}

        for _ in range(rounds):
            round_of_tasks(given)

        for name in PARTS:
            after = held(given, name)
            assert after.memory_mb - before[name].memory_mb < MEMORY_GROWTH_MB, f"{name}: {before[name]} -> {after}"
            assert after.handles - before[name].handles < HANDLES_GROWTH, f"{name}: {before[name]} -> {after}"
            assert after.children <= before[name].children, f"{name}: {before[name]} -> {after}"
