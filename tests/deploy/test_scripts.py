"""Every shell script is one that shellcheck and its own interpreter accept."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.deploy.scripts import ROOT, run

SCRIPTS = sorted([*ROOT.glob("deploy/**/*.sh"), ROOT / ".ci" / "run"])
PROGRAMS = [script for script in SCRIPTS if script.read_text().startswith("#!/usr/bin/env bash")]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_shellcheck_finds_nothing(script: Path) -> None:
    if shutil.which("shellcheck") is None:
        pytest.skip("shellcheck is not installed; `make test` installs it")

    checked = subprocess.run(["shellcheck", "-x", script], cwd=ROOT, capture_output=True, text=True)

    assert checked.stdout == ""
    assert checked.returncode == 0


@pytest.mark.parametrize("script", PROGRAMS, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_program_can_be_started_and_stops_at_the_first_error(script: Path) -> None:
    text = script.read_text()

    assert script.stat().st_mode & 0o111 == 0o111
    assert "set -euo pipefail" in text or "lib.sh" in text


@pytest.mark.parametrize("target", ["run", "test", "check", "bench", "chaos", "soak", "lock", "images", "clean"])
def test_make_help_names_every_target(target: str) -> None:
    told = run("make", "-C", ROOT, "help")

    assert f"make {target} " in told.result


@pytest.mark.parametrize("script", ["engine.sh", "packages.sh", "venv.sh"])
def test_a_wrong_word_is_named_with_the_right_ones(script: str) -> None:
    told = run(ROOT / "deploy" / "setup" / script, "sideways")

    assert told.code == 1
    assert "'sideways'" in told.last_line
    assert "Say " in told.last_line
