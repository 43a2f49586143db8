"""What the supervisor writes down of itself and its parts: how status, down and the next up find them."""

import time
from pathlib import Path
from typing import Literal, Self

import psutil
from pydantic import ValidationError

from contracts.values import Value
from runtime.files import write_atomically
from runtime.stack.part import HealthCheck

FailureKind = Literal["port_in_use", "program_missing", "exited", "not_healthy", "supervisor_died", "unusable"]

Phase = Literal["starting", "running", "stopping", "failed"]

SAME_START_SECONDS = 1.0
"""Start times are read from ticks since boot, and a corrected clock moves them a little."""


class ProcessMark(Value):
    """One process for certain: ids are used again, but not with the same start time."""

    pid: int
    started_at: float
    """Seconds since the epoch."""

    @classmethod
    def own(cls) -> Self:
        process = psutil.Process()
        return cls(pid=process.pid, started_at=process.create_time())

    @classmethod
    def of(cls, pid: int) -> Self | None:
        """None if there is no such process."""
        try:
            return cls(pid=pid, started_at=psutil.Process(pid).create_time())
        except psutil.NoSuchProcess:
            return None

    @property
    def age_seconds(self) -> float:
        return max(0.0, time.time() - self.started_at)

    def process(self) -> psutil.Process | None:
        """The living process, or None."""
        try:
            process = psutil.Process(self.pid)
            same = abs(process.create_time() - self.started_at) < SAME_START_SECONDS
            return process if same and process.status() != psutil.STATUS_ZOMBIE else None
        except psutil.NoSuchProcess:
            return None


class Failure(Value):
    """Why the stack did not start."""

    kind: FailureKind
    part: str
    port: int = 0
    setting: str = ""
    holder: str = ""
    """Process that has the port: its name and id, as far as this user may know."""
    exit_code: int | None = None
    seconds: float = 0.0
    detail: str = ""
    log: str = ""
    """Path of the part's log."""
    lines: tuple[str, ...] = ()
    """The last lines of that log."""


class PartState(Value):
    """Where one part stands."""

    name: str
    health: HealthCheck
    phase: Literal["waiting", "starting", "running", "restarting", "stopped"] = "waiting"
    mark: ProcessMark | None = None
    ports: tuple[int, ...] = ()
    restarts: int = 0
    ready_after_seconds: float | None = None
    last_exit: int | None = None
    """Exit code of its last end, negative for a signal."""


class StackState(Value):
    """The state file."""

    phase: Phase
    supervisor: ProcessMark
    stops_within_seconds: float
    parts: tuple[PartState, ...]
    failure: Failure | None = None
    ui_url: str = ""
    versions: dict[str, str]

    @property
    def is_alive(self) -> bool:
        return self.supervisor.process() is not None


def read_state(path: Path) -> StackState | None:
    """None if there is no state, or none that this version understands."""
    try:
        return StackState.model_validate_json(path.read_bytes())
    except (FileNotFoundError, ValidationError):
        return None


def write_state(path: Path, state: StackState) -> None:
    write_atomically(path, state.model_dump_json(indent=1).encode())
