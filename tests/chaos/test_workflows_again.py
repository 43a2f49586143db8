"""The tests of workflows once more, with everything said twice, nothing kept in memory, and in another order."""

import secrets
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_workflows_stay_right_with_nothing_kept_everything_twice_and_any_order(request: pytest.FixtureRequest) -> None:
    given_seed: int | None = request.config.getoption("--shuffle")
    seed = secrets.randbelow(1_000_000) if given_seed is None else given_seed
    harder = ["--uncached", "--twice", "--shuffle", str(seed), "-p", "no:cacheprovider"]

    done = subprocess.run(
        [sys.executable, "-m", "pytest", "tests/workflows", "-q", *harder],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, f"--shuffle {seed} gives the same again\n{done.stdout[-20_000:]}"
