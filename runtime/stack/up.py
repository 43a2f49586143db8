"""Start the stack, or find the one that runs, and follow it until it is healthy."""

import os
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from runtime.keys import Keyring
from runtime.paths import FILE_MODE, DataPaths
from runtime.stack.down import down
from runtime.stack.lock import lock_holder
from runtime.stack.output import last_lines, output_of
from runtime.stack.part import Stack
from runtime.stack.processes import with_packages
from runtime.stack.state import Failure, StackState, read_state
from runtime.stack.supervise import Ended

POLL_SECONDS = 0.05

Observe = Callable[[StackState], None]


@dataclass(frozen=True)
class UpOutcome:
    """How `up` ended."""

    state: StackState | None
    was_running: bool
    """True if an earlier `up` had started it."""
    failure: Failure | None = None


def prepare(paths: DataPaths) -> None:
    """Make the folders and the keyring, before any part makes data. Raises: FolderUnusable, KeyringUnusable."""
    paths.prepare()
    Keyring.load(paths.root)


def up(stack: Stack, environ: Mapping[str, str], observe: Observe, *, wait: bool = True) -> UpOutcome:
    """Start the stack in the background and wait until all parts are healthy; `observe` is told of each change.

    With a stack that already runs, only wait. A failed or interrupted start has stopped all that it had started.
    Raises: FolderUnusable, KeyringUnusable, KeyboardInterrupt.
    """
    paths = DataPaths(stack.data_dir)
    prepare(paths)
    while True:
        if _is_running(paths, stack.stops_within_seconds):
            return _follow(paths, None, observe, wait)
        child = _Child(_size(output_of(paths.logs, "supervisor")), _spawn(stack, environ, paths))
        try:
            outcome = _follow(paths, child, observe, wait)
        except KeyboardInterrupt:
            if not child.gave_way():
                down(paths)
            raise
        if not child.gave_way():
            return outcome


@dataclass
class _Child:
    """The supervisor that this `up` started."""

    written: int
    """Size of its log before it started."""
    pid: int
    exit_code: int | None = None

    def has_ended(self) -> bool:
        if self.exit_code is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.exit_code = os.waitstatus_to_exitcode(status)
        return self.exit_code is not None

    def gave_way(self) -> bool:
        """Whether it ended because another `up` had been quicker."""
        return self.has_ended() and self.exit_code == Ended.ALREADY_RUNNING


def _is_running(paths: DataPaths, patience_seconds: float) -> bool:
    """Whether a stack starts or runs; one that is just stopping, or being cleared away, is waited for."""
    until = time.monotonic() + patience_seconds
    while lock_holder(paths.stack_lock) is not None and time.monotonic() < until:
        state = read_state(paths.stack_state)
        if state is not None and state.is_alive and state.phase in ("starting", "running"):
            return True
        time.sleep(POLL_SECONDS)
    return False


def _follow(paths: DataPaths, child: _Child | None, observe: Observe, wait: bool) -> UpOutcome:
    """Until the stack that is this child's, or that ran before, has started, failed or gone."""
    seen: StackState | None = None
    while True:
        gone = child.has_ended() if child is not None else lock_holder(paths.stack_lock) is None
        state = read_state(paths.stack_state)
        if state is not None and (child is None or state.supervisor.pid == child.pid):
            if state != seen:
                seen = state
                observe(state)
            if state.phase == "failed":
                _reap(child)
                return UpOutcome(state, was_running=child is None, failure=state.failure)
            if state.phase == "running" or (not wait and state.phase == "starting"):
                return UpOutcome(state, was_running=child is None)
        if gone:
            return UpOutcome(None, was_running=child is None, failure=_died(paths, child))
        time.sleep(POLL_SECONDS)


def _reap(child: _Child | None) -> None:
    while child is not None and not child.has_ended():
        time.sleep(POLL_SECONDS)


def _died(paths: DataPaths, child: _Child | None) -> Failure:
    log = output_of(paths.logs, "supervisor")
    return Failure(
        kind="supervisor_died",
        part="supervisor",
        exit_code=child.exit_code if child else None,
        log=str(log),
        lines=last_lines(log, child.written if child else 0),
    )


def _spawn(stack: Stack, environ: Mapping[str, str], paths: DataPaths) -> int:
    """A process of its own session that outlives this one. It gets the stack on standard input."""
    reading, writing = os.pipe()
    log = str(output_of(paths.logs, "supervisor"))
    try:
        pid = os.posix_spawn(
            sys.executable,
            [sys.executable, "-P", "-m", "runtime.stack.supervise"],
            with_packages(environ),
            file_actions=[
                (os.POSIX_SPAWN_DUP2, reading, 0),
                (os.POSIX_SPAWN_OPEN, 1, log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, FILE_MODE),
                (os.POSIX_SPAWN_DUP2, 1, 2),
            ],
            setsid=True,
        )
        with os.fdopen(writing, "wb", closefd=False) as pipe:
            pipe.write(stack.model_dump_json().encode())
    finally:
        os.close(reading)
        os.close(writing)
    return pid


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
