"""All programs that policy knows, each with its judge; whatever is not here is asked about."""

from collections.abc import Mapping

from policy.commands.program import Program
from policy.commands.programs import (
    archives,
    awk,
    builtins,
    code,
    database,
    disk,
    editors,
    fetchers,
    finders,
    git,
    installers,
    machine,
    network,
    privileged,
    processes,
    project,
    readers,
    runners,
    sed,
    shells,
    writers,
)  # fmt: skip


def _merged(*tables: Mapping[str, Program]) -> dict[str, Program]:
    merged: dict[str, Program] = {}
    for table in tables:
        doubled = merged.keys() & table.keys()
        if doubled:
            raise ValueError(f"two judges for {sorted(doubled)}")
        merged.update(table)
    return merged


PROGRAMS = _merged(
    archives.PROGRAMS, awk.PROGRAMS, builtins.PROGRAMS, code.PROGRAMS, database.PROGRAMS, disk.PROGRAMS,
    editors.PROGRAMS, fetchers.PROGRAMS, finders.PROGRAMS, git.PROGRAMS, installers.PROGRAMS, machine.PROGRAMS,
    network.PROGRAMS, privileged.PROGRAMS, processes.PROGRAMS, project.PROGRAMS, readers.PROGRAMS,
    runners.PROGRAMS, sed.PROGRAMS, shells.PROGRAMS, writers.PROGRAMS,
)  # fmt: skip


def is_program(name: str) -> bool:
    return name in PROGRAMS
