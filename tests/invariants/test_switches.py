"""Whoever breaks a promise hears of it: with the piece that keeps it broken, its test in the suite goes red."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.invariants.switches import SWITCHES, Switch

PROJECT = Path(__file__).parents[2]

RED = ("AssertionError", "Failed")
"""The test's own word. Any other exception would only say that the broken piece does not work at all."""

pytestmark = pytest.mark.xdist_group("invariants")


@pytest.fixture(scope="module")
def red(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """The tests that went red by an assertion of their own, without parameters. Each ran with its switch thrown."""
    outcomes = tmp_path_factory.mktemp("broken") / "outcomes"
    tests = sorted({switch.test for switch in SWITCHES})
    options = ["-q", "-p", "tests.invariants.breaking", "--outcomes", str(outcomes), "-p", "no:cacheprovider"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *tests], cwd=PROJECT, capture_output=True, text=True, check=False
    )
    assert done.returncode == pytest.ExitCode.TESTS_FAILED, done.stdout[-5_000:] + done.stderr[-5_000:]
    failed = [json.loads(line) for line in outcomes.read_text().splitlines()]
    return {each["test"].split("[")[0] for each in failed if each["when"] == "call" and each["type"] in RED}


@pytest.mark.timeout(300)
@pytest.mark.parametrize("switch", SWITCHES, ids=lambda switch: switch.promise)
def test_a_broken_promise_turns_its_test_red(switch: Switch, red: set[str]) -> None:
    assert switch.test.split("[")[0] in red
