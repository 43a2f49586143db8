"""Whoever breaks a promise hears of it: with the piece that keeps it broken, its test in the suite goes red."""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.invariants.switch import Switch, without_parameters
from tests.invariants.switches import SWITCHES

PROJECT = Path(__file__).parents[2]

RED = ("AssertionError", "Failed")
"""The test's own word. Any other exception would only say that the broken piece does not work at all."""

pytestmark = pytest.mark.xdist_group("invariants")


@pytest.fixture(scope="module")
def red(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """The tests that went red by an assertion of their own. Each ran with its switch thrown."""
    outcomes = tmp_path_factory.mktemp("broken") / "outcomes"
    tests = sorted({switch.test for switch in SWITCHES})
    # What a red test leaves unfinished must not be held against the next one.
    without = ["-p", "no:cacheprovider", "-p", "no:unraisableexception"]
    options = ["-q", "-p", "tests.invariants.breaking", "--outcomes", str(outcomes), *without]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *tests], cwd=PROJECT, capture_output=True, text=True, check=False
    )
    assert done.returncode == pytest.ExitCode.TESTS_FAILED, done.stdout[-5_000:] + done.stderr[-5_000:]
    failed = [json.loads(line) for line in outcomes.read_text().splitlines()]
    return {each["test"] for each in failed if each["when"] == "call" and each["type"] in RED}


@pytest.mark.timeout(300)
@pytest.mark.parametrize("switch", SWITCHES, ids=lambda switch: switch.promise)
def test_a_broken_promise_turns_its_test_red(switch: Switch, red: set[str]) -> None:
    assert any(map(switch.is_tested_by, red))


def test_each_switch_has_a_test_of_its_own() -> None:
    """Two that are thrown under one test would both be taken for noticed when one is."""
    counted = Counter(switch.test for switch in SWITCHES)
    early = {switch.test.split("::")[0] for switch in SWITCHES if switch.early}

    assert [test for test, count in counted.items() if count > 1] == []
    assert [test for test in counted if "[" in test and without_parameters(test) in counted] == []
    assert sum(switch.test.split("::")[0] in early for switch in SWITCHES) == len(early)
