"""The supervisor's process: `python -m runtime.stack.supervise` reads a Stack from standard input and runs it."""

import asyncio
import logging
import os
import sys
from collections.abc import Mapping
from enum import IntEnum

from runtime.logs import start_logging
from runtime.paths import DataPaths
from runtime.process import run_until_signal
from runtime.redact import Redactor, secrets_of
from runtime.stack.lock import LockHeld, held_lock
from runtime.stack.part import Stack
from runtime.stack.processes import end_leftovers, with_marker, with_packages
from runtime.stack.state import StackState, read_state
from runtime.stack.supervisor import Observe, Supervisor

_log = logging.getLogger(__name__)


class Ended(IntEnum):
    """Exit codes of the supervisor."""

    IN_ORDER = 0
    FAILED = 1
    ALREADY_RUNNING = 3


def supervise(stack: Stack, environ: Mapping[str, str], observe: Observe) -> Ended:
    """Run the stack in this process until a signal; the first one stops in order, the second one kills."""
    paths = DataPaths(stack.data_dir)
    try:
        with held_lock(paths.stack_lock):
            try:
                return _run(stack, with_marker(with_packages(environ), stack.data_dir), observe)
            finally:
                _leave_nothing(paths)
    except LockHeld:
        return Ended.ALREADY_RUNNING


def _run(stack: Stack, environ: Mapping[str, str], observe: Observe) -> Ended:
    failures = []

    async def serve(stop: asyncio.Event) -> None:
        failure = await Supervisor(stack, environ, observe).run(stop)
        failures.extend([] if failure is None else [failure])

    code = run_until_signal(serve)
    return Ended.FAILED if code or failures else Ended.IN_ORDER


def _leave_nothing(paths: DataPaths) -> None:
    """Only after a second signal or a defect is there anything to do: an orderly stop has done it."""
    left = read_state(paths.stack_state)
    if left is not None and left.phase != "failed":
        end_leftovers(paths.root, left.parts)
        paths.stack_state.unlink(missing_ok=True)


def main() -> int:
    environ = dict(os.environ)
    stack = Stack.model_validate_json(sys.stdin.buffer.read())
    start_logging(
        "supervisor", logs=DataPaths(stack.data_dir).logs, level="INFO", redactor=Redactor(secrets_of({}, environ))
    )
    return supervise(stack, environ, _logged)


def _logged(state: StackState) -> None:
    _log.info("%s: %s", state.phase, ", ".join(f"{part.name} {part.phase}" for part in state.parts))


if __name__ == "__main__":
    sys.exit(main())
