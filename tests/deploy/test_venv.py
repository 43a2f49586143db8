"""The Python environment is what its lock file says, and is made only when it is not."""

import re
import shutil
from pathlib import Path
from time import monotonic

import pytest

from tests.deploy.scripts import ROOT, run

BUILD_PACKAGES = ["editables", "hatchling", "packaging", "pathspec", "pluggy", "tomlkit", "trove-classifiers"]

PROJECT = """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "small"
version = "1"

[tool.hatch.build.targets.wheel]
packages = ["small"]
"""


@pytest.fixture
def project(copied_project: Path) -> Path:
    """A project of one package whose lock holds only what builds it."""
    entries = re.findall(r"(?m)^[^\s].*(?:\n    .*)*", (ROOT / "requirements.lock").read_text())
    wanted = [entry for entry in entries if entry.split("==")[0] in BUILD_PACKAGES]
    (copied_project / "requirements.lock").write_text("\n".join(wanted) + "\n")
    (copied_project / "pyproject.toml").write_text(PROJECT)
    (copied_project / "small").mkdir()
    (copied_project / "small" / "__init__.py").write_text("answer = 42\n")
    return copied_project


def test_the_first_run_makes_it_and_the_second_changes_nothing(project: Path) -> None:
    script = project / "deploy" / "setup" / "venv.sh"
    python = project / ".venv" / "bin" / "python"

    first = run(script, "run")
    made = (project / ".venv").stat().st_mtime_ns
    start = monotonic()
    second = run(script, "run")

    assert first.code == second.code == 0, first.told
    assert monotonic() - start < 5
    assert "pip install" in first.told
    assert "pip install" not in second.told
    assert (project / ".venv").stat().st_mtime_ns == made
    assert run(python, "-c", "import small; print(small.answer)").result == "42"


def test_a_changed_declaration_and_a_broken_python_are_both_repaired(project: Path) -> None:
    script = project / "deploy" / "setup" / "venv.sh"
    python = project / ".venv" / "bin" / "python"
    run(script, "run")

    (project / "pyproject.toml").write_text(PROJECT + '\n[project.scripts]\nsmall = "small:answer"\n')
    changed = run(script, "run")
    python.unlink()
    broken = run(script, "run")

    assert "pip install" in changed.told
    assert "-m venv" not in changed.told
    assert "-m venv" in broken.told
    assert run(python, "-c", "import small; print(small.answer)").result == "42"


def test_a_package_that_differs_from_the_lock_is_refused_and_nothing_counts_as_installed(project: Path) -> None:
    lock = project / "requirements.lock"
    lock.write_text(re.sub(r"sha256:\w{8}", "sha256:00000000", lock.read_text()))

    told = run(project / "deploy" / "setup" / "venv.sh", "run")

    assert told.code == 1
    assert "requirements.lock" in told.last_line
    assert "HASHES" in told.last_line
    assert not (project / ".venv" / ".installed").exists()


def test_without_a_python_that_fits_the_line_says_how_to_get_one(project: Path) -> None:
    tools = project / "tools"
    tools.mkdir()
    for name in [
        "bash",
        "env",
        "dirname",
        "basename",
        "mkdir",
        "date",
        "cat",
        "sha256sum",
        "cut",
        "id",
        "grep",
        "sed",
        "cp",
        "rm",
    ]:
        found = shutil.which(name)
        assert found is not None
        (tools / name).symlink_to(found)

    told = run(project / "deploy" / "setup" / "venv.sh", "run", variables={"PATH": str(tools)})

    assert told.code == 1
    assert "python3-venv" in told.last_line
