"""The map of the project is true: its packages, what they may import, and how long a file may get."""

import importlib
import subprocess
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from runtime.settings import Settings
from tests.project.files import PACKAGES, ROOT, lines_of, tracked

OURS = "agent-sandbox-os"

MOST_LINES = 320
LONGER = {
    "sandbox/drivers/seccomp.json": "a list of system calls",
    "tests/gateway/test_delivering.py": "one table of behaviours after another",
    "tests/gateway/test_telegram_channel.py": "one table of behaviours after another",
    "tests/planner/test_litellm.py": "one table of behaviours after another",
    "tests/policy/test_judge.py": "one table of behaviours after another",
    "tests/tools/test_gathering.py": "one table of behaviours after another",
    "tests/workflows/test_task.py": "one table of behaviours after another",
}
"""Files that may be longer, and why."""


@pytest.mark.parametrize("package", PACKAGES)
def test_no_other_distribution_installs_over_a_package_of_ours(package: str) -> None:
    assert set(packages_distributions().get(package, [])) <= {OURS}


def test_the_tests_are_ours_although_another_distribution_brings_a_folder_of_that_name() -> None:
    assert Path(importlib.import_module("tests").__file__ or "").is_relative_to(ROOT)


@pytest.mark.parametrize(("package", "sentence"), PACKAGES.items())
def test_a_package_says_in_one_sentence_what_it_is_for(package: str, sentence: str) -> None:
    module = importlib.import_module(package)

    assert module.__doc__ == sentence
    assert module.__file__ is not None
    assert Path(module.__file__).is_relative_to(ROOT)


def test_every_folder_of_code_is_an_import_package_with_a_sentence() -> None:
    folders = {path.parent for path in tracked(".py") if path.parts[len(ROOT.parts)] in PACKAGES}

    assert not [str(folder) for folder in folders if not lines_of(folder / "__init__.py")[0].startswith('"""')]


def test_every_module_opens_with_what_it_is() -> None:
    silent = [path for path in tracked(".py") if not lines_of(path)[:1] or not lines_of(path)[0].startswith('"""')]

    assert [str(path.relative_to(ROOT)) for path in silent] == []


def test_a_file_holds_one_idea() -> None:
    long = {str(path.relative_to(ROOT)) for path in tracked() if len(lines_of(path)) > MOST_LINES}

    assert long <= set(LONGER), "split it, or say why not"


def test_the_import_rules_hold() -> None:
    done = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stdout
    assert " 0 broken" in done.stdout


def test_every_setting_says_what_it_is() -> None:
    undocumented = [name for name, field in Settings.model_fields.items() if not field.description]

    assert undocumented == []
