"""Which policy files there are, and what `asos status` knows of them: the version in force, and why a change is not."""

from datetime import datetime
from pathlib import Path

from pydantic import ValidationError

from contracts.values import Value
from runtime.files import write_atomically
from runtime.settings import Settings

PROJECT_FILE = "asos.policy.yaml"


class PolicyState(Value):
    """Written by the worker whenever it changes."""

    file: str
    overlays: tuple[str, ...] = ()
    """Files that may only tighten."""
    version: str
    at: datetime
    problem: str = ""
    """Why a later change is not in force; empty if there is none."""


def write_policy_state(path: Path, state: PolicyState) -> None:
    """Raises: OSError."""
    write_atomically(path, state.model_dump_json().encode())


def read_policy_state(path: Path) -> PolicyState | None:
    """None if none was written yet, or it cannot be read."""
    try:
        return PolicyState.model_validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return None


def overlays_of(settings: Settings) -> tuple[Path, ...]:
    """The files that may only tighten: those of the settings, and the one of the folder that we are started in."""
    project = Path(PROJECT_FILE).absolute()
    return tuple(dict.fromkeys((*settings.policy_overlays, *((project,) if project.is_file() else ()))))
