"""Kill -9 whatever runs, whenever: each task finishes once, with one effect."""

import secrets
from pathlib import Path

import pytest

from tests.chaos.storm import Ended, storm
from tests.e2e.stack import Installation, installation

pytestmark = [pytest.mark.xdist_group("e2e-storm")]

SAMPLE_SEED = 4


def assert_each_finished_once(given: Installation, ended: list[Ended]) -> None:
    assert [each.outcome for each in ended] == ["done"] * len(ended)
    assert [each.effects for each in ended] == [1] * len(ended)
    assert all("\n1\n" in each.answer for each in ended), [each.answer for each in ended]
    assert len({each.task_id for each in ended}) == len(ended)


@pytest.mark.timeout(300)
def test_tasks_finish_once_although_a_process_is_killed(tmp_path: Path) -> None:
    with installation(tmp_path) as given:
        ended = storm(given, SAMPLE_SEED, tasks=2, kills=1, seconds=4)

        assert_each_finished_once(given, ended)


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_many_tasks_finish_once_in_a_long_storm(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    given_seed: int | None = request.config.getoption("--shuffle")
    seed = secrets.randbelow(1_000_000) if given_seed is None else given_seed
    with installation(tmp_path) as given:
        for number in range(5):
            ended = storm(given, seed + number, tasks=6, kills=4, seconds=20)

            assert_each_finished_once(given, ended)
