"""Stop the stack, and clean up after one whose supervisor was killed."""

import time
from dataclasses import dataclass

from runtime.paths import DataPaths
from runtime.stack.lock import held_lock, lock_holder
from runtime.stack.processes import end_leftovers, end_supervisor
from runtime.stack.state import read_state

LOCK_PATIENCE_SECONDS = 30.0

UNRECORDED_SECONDS = 60.0
"""How long a supervisor may take to stop that has not yet written down its parts."""


@dataclass(frozen=True)
class DownOutcome:
    """What `down` found."""

    was_running: bool
    leftovers: int
    """Processes that no supervisor watched any more, and that were ended."""
    seconds: float


def down(paths: DataPaths) -> DownOutcome:
    """Stop everything in reverse order; afterwards no process, lock or state file is left. Raises: LockHeld."""
    begun = time.monotonic()
    if not paths.stack_lock.parent.is_dir():
        return DownOutcome(was_running=False, leftovers=0, seconds=0.0)
    holder = lock_holder(paths.stack_lock)
    if holder is not None:
        state = read_state(paths.stack_state)
        end_supervisor(holder, state.stops_within_seconds if state else UNRECORDED_SECONDS)
    with held_lock(paths.stack_lock, LOCK_PATIENCE_SECONDS):
        state = read_state(paths.stack_state)
        leftovers = end_leftovers(paths.root, state.parts if state else ())
        paths.stack_state.unlink(missing_ok=True)
    return DownOutcome(was_running=holder is not None, leftovers=leftovers, seconds=time.monotonic() - begun)
