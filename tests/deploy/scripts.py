"""Run the project's own scripts, as a person or `make` does."""

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
SETUP = ROOT / "deploy" / "setup"


@dataclass(frozen=True)
class Ran:
    """How a script ended: its result on standard output, what it told on standard error."""

    code: int
    result: str
    told: str

    @property
    def last_line(self) -> str:
        return self.told.strip().splitlines()[-1]


def run(
    *command: str | Path, as_user: int | None = None, timeout: float = 200, variables: Mapping[str, str] | None = None
) -> Ran:
    """Run with these variables beside the environment's own; an empty one is as good as unset."""
    done = subprocess.run(
        [str(part) for part in command],
        env={**os.environ, **(variables or {})},
        capture_output=True,
        text=True,
        timeout=timeout,
        stdin=subprocess.DEVNULL,
        user=as_user,
        group=as_user,
        extra_groups=None if as_user is None else [],
    )
    return Ran(done.returncode, done.stdout.strip(), done.stderr)
