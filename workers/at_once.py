"""The command `asos` from its very beginning: a stop is in force before the rest of the program is even loaded.

Loading takes more than a second, and ten on a machine that an agent keeps busy; writing a stop takes a fifth of one.
"""

import getpass
import importlib
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import cast, get_args

from contracts.kill import Kill, KillLevel
from runtime.keys import Keyring, KeyringUnusable
from runtime.killing.state import StateFile
from runtime.killing.switch import KillSwitch
from runtime.paths import DataPaths, FolderUnusable
from runtime.settings import SettingsInvalid, read_settings

WHOLE_ID = 26

pulled: list[tuple[Kill, float]] = []
"""What this process has put in force already, and after how many seconds; the command goes on from there."""

Wanted = tuple[KillLevel, str | None, str]


def main() -> None:
    """Entry point of the console script."""
    wanted = wanted_by(sys.argv[1:])
    if wanted is not None:
        # Whatever is wrong, the command itself says it better.
        with suppress(SettingsInvalid, KeyringUnusable, FolderUnusable, OSError):
            began = time.monotonic()
            pulled.append((_pull(*wanted), time.monotonic() - began))
    importlib.import_module("workers.asos").main()


def wanted_by(arguments: Sequence[str]) -> Wanted | None:
    """Level, task and reason of a plain `asos kill`; None for everything that the whole program has to understand."""
    if not arguments or arguments[0] != "kill":
        return None
    words = [part for each in arguments[1:] for part in (each.split("=", 1) if each.startswith("--") else [each])]
    said: dict[str, str] = {}
    while words:
        word = words.pop(0)
        if word in ("--level", "--reason") and words:
            said[word] = words.pop(0)
        elif len(word) == WHOLE_ID and word.isalnum() and "task" not in said:
            said["task"] = word.upper()
        elif word != "--json":
            return None
    task_id = said.get("task")
    level = said.get("--level", "task" if task_id else "all")
    if level not in get_args(KillLevel) or (level == "task") != (task_id is not None):
        return None
    return cast(KillLevel, level), task_id, said.get("--reason", "")


def _pull(level: KillLevel, task_id: str | None, reason: str) -> Kill:
    settings = read_settings()
    file = StateFile.of(DataPaths(settings.data_dir), Keyring.load(settings.data_dir))
    switch = KillSwitch(file, lambda *_: False)  # nothing is lifted here
    return switch.pull(level, task_id, f"console:{getpass.getuser()}", reason)


if __name__ == "__main__":
    # By its own name, under which the rest of the program finds what was put in force.
    importlib.import_module("workers.at_once").main()
