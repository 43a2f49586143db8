"""The switch itself: pulled by one write, lifted only with a second factor."""

import fcntl
import logging
import os
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from contracts.approvals import StepUp
from contracts.kill import Kill, KillLevel
from runtime.killing.state import State, StateFile, purpose_of
from runtime.paths import FILE_MODE, private_folder

LOCK_SECONDS = 1.0
"""A stop waits for no other process: after so long it is written without the lock."""
REASON_CHARACTERS = 500

Verify = Callable[[StepUp | None, str, datetime], bool]
"""Whether a second factor has confirmed exactly this purpose."""

_log = logging.getLogger(__name__)


class LiftRefused(Exception):
    """Raised when a stop stays in force; the text says why."""


class KillSwitch:
    """Reads and writes a small file: call it off the event loop."""

    def __init__(
        self, file: StateFile, verify: Verify, now: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        self._file = file
        self._verify = verify
        self._now = now

    def pull(self, level: KillLevel, task_id: str | None, by: str, reason: str = "") -> Kill:
        """In force, and on disk, when this returns. Raises: OSError, ValueError for a task level without its task."""
        if (level == "task") != (task_id is not None):
            raise ValueError(f"the level {level!r} goes with {'a' if level == 'task' else 'no'} task")
        at = self._now()
        kill = Kill(
            kill_id=f"k{secrets.token_hex(4)}",
            level=level,
            task_id=task_id,
            by=by,
            reason=reason[:REASON_CHARACTERS],
            at=at,
        )
        self.take_over(kill)
        return kill

    def take_over(self, kill: Kill) -> bool:
        """The same stop as another machine's; False if it is known, which changes nothing. Raises: OSError."""
        with self._locked():
            state = self._file.read()
            fresh = all(kill.kill_id != other.kill_id for other in state.kills)
            if fresh:
                self._write(state, (*state.kills, kill))
            return fresh

    def in_force(self) -> tuple[Kill, ...]:
        """What a damaged file stands for is among them."""
        return self._file.read().kills

    def chosen(self, kill_id: str | None) -> tuple[Kill, ...]:
        """The stop with this id, or all for None. Raises: LiftRefused if there is none."""
        kills = self.in_force()
        found = kills if kill_id is None else tuple(kill for kill in kills if kill.kill_id == kill_id)
        if not found:
            raise LiftRefused(f"no stop {kill_id!r} is in force" if kill_id else "nothing is stopped")
        return found

    def lift(self, kills: tuple[Kill, ...], step_up: StepUp | None) -> tuple[Kill, ...]:
        """Take exactly these out of force. Raises: LiftRefused, OSError."""
        self.check(kills, step_up)
        lifted = {kill.kill_id for kill in kills}
        with self._locked():
            state = self._file.read()
            self._write(state, tuple(kill for kill in state.kills if kill.kill_id not in lifted))
        return kills

    def check(self, kills: tuple[Kill, ...], step_up: StepUp | None) -> None:
        """Whether exactly these may be lifted with it. Raises: LiftRefused."""
        if not self._verify(step_up, purpose_of(kills), self._now()):
            raise LiftRefused("the second factor has not confirmed that these stops are lifted")

    def _write(self, before: State, kills: tuple[Kill, ...]) -> None:
        self._file.write(State(written=max(before.written + 1, time.time_ns()), kills=kills))

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """One writer at a time, as long as none of them hangs."""
        folder = self._file.path.parent
        private_folder(folder.parent)
        lock = folder.with_name(f"{folder.name}.lock")
        handle = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, FILE_MODE)
        try:
            until = time.monotonic() + LOCK_SECONDS
            while not _taken(handle):
                if time.monotonic() > until:
                    _log.warning("%s is held by a process that hangs; written without it", lock)
                    break
                time.sleep(0.01)
            yield
        finally:
            os.close(handle)


def _taken(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
