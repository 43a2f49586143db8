"""`asos up` in a process of its own, with the stack given as JSON: `command.py up|foreground STACK`."""

import os
import sys

from runtime.paths import DataPaths
from runtime.stack.part import Stack
from runtime.stack.state import StackState
from runtime.stack.supervise import supervise
from runtime.stack.up import prepare, up


def main() -> None:
    stack = Stack.model_validate_json(sys.argv[2])
    if sys.argv[1] == "foreground":
        prepare(DataPaths(stack.data_dir))
        sys.exit(supervise(stack, os.environ, tell))
    outcome = up(stack, dict(os.environ), tell)
    sys.stdout.write(f"was_running={outcome.was_running}\n")


def tell(state: StackState) -> None:
    sys.stdout.write(f"{state.phase}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
