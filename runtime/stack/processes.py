"""Start and end the processes of the stack, with all that they started."""

import asyncio
import os
import signal
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

import psutil

from runtime.paths import FILE_MODE
from runtime.stack.part import Part
from runtime.stack.state import PartState, ProcessMark

MARKER = "ASOS_STACK"
"""Variable that all parts inherit, with the data folder: by it, what a killed supervisor left is found.

The supervisor itself is without it: one that has yet to learn that another was quicker must not be taken for a rest.
"""

PROJECT = Path(__file__).resolve().parents[2]
"""Holds the packages; the children find them there also when they are not installed."""

SEEN_BY_ALL = ("PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "USER", MARKER)

KILL_SECONDS = 5.0


def with_packages(environ: Mapping[str, str]) -> dict[str, str]:
    """The variables with which a Python process finds the project's packages."""
    folders = [str(PROJECT), *environ.get("PYTHONPATH", "").split(os.pathsep)]
    return {**environ, "PYTHONPATH": os.pathsep.join(dict.fromkeys(filter(None, folders)))}


def with_marker(environ: Mapping[str, str], data_dir: Path) -> dict[str, str]:
    """The variables by which a process is known as one of this stack."""
    return {**environ, MARKER: str(data_dir)}


async def start(part: Part, environ: Mapping[str, str], log: Path) -> asyncio.subprocess.Process:
    """Start in a session of its own, so that a Ctrl-C in the terminal reaches the supervisor alone. Raises: OSError."""
    seen = environ if part.sees_environment else {name: environ[name] for name in SEEN_BY_ALL if name in environ}
    handle = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, FILE_MODE)
    try:
        return await asyncio.create_subprocess_exec(
            *part.argv,
            env=dict(seen),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=handle,
            stderr=handle,
            start_new_session=True,
        )
    finally:
        os.close(handle)


async def end(process: asyncio.subprocess.Process, within_seconds: float) -> None:
    """SIGTERM, then after the time SIGKILL; the rest of its process group never outlives it."""
    if process.returncode is None:
        process.terminate()
        try:
            await asyncio.wait_for(process.wait(), within_seconds)
        except TimeoutError:
            process.kill()
            await process.wait()
    kill_group(process.pid)


def kill_group(pid: int) -> None:
    """Kill what is left of a process group whose leader has ended."""
    try:
        os.killpg(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        # Empty already; macOS says EPERM for a group of zombies.
        return


def end_leftovers(data_dir: Path, parts: Iterable[PartState]) -> int:
    """End what a dead supervisor left: the recorded parts in reverse order, then whatever carries the marker.

    Gives the number of processes ended. The caller holds the lock, so nothing of a living stack is among them.
    """
    ended = 0
    for part in reversed(list(parts)):
        process = part.mark.process() if part.mark else None
        if process is not None:
            ended += _end_all([process], KILL_SECONDS)
            kill_group(process.pid)
    return ended + _end_all(_marked(data_dir), KILL_SECONDS)


def end_supervisor(mark: ProcessMark, within_seconds: float) -> None:
    """SIGTERM, by which it stops its parts in order; SIGKILL if it does not end in time."""
    process = mark.process()
    if process is not None:
        _end_all([process], within_seconds)


def _end_all(processes: list[psutil.Process], within_seconds: float) -> int:
    for process in processes:
        _signal(process, signal.SIGTERM)
    _, alive = _waited(processes, within_seconds)
    for process in alive:
        _signal(process, signal.SIGKILL)
    _waited(alive, KILL_SECONDS)
    return len(processes)


def _signal(process: psutil.Process, number: signal.Signals) -> None:
    try:
        process.send_signal(number)
    except psutil.NoSuchProcess:
        return


def _waited(processes: list[psutil.Process], seconds: float) -> tuple[list[psutil.Process], list[psutil.Process]]:
    """Split into ended and alive. A zombie has ended: whoever started it has yet to ask."""
    until = time.monotonic() + seconds
    while True:
        alive = [process for process in processes if _is_running(process)]
        if not alive or time.monotonic() >= until:
            return [process for process in processes if process not in alive], alive
        time.sleep(0.02)


def _is_running(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _marked(data_dir: Path) -> list[psutil.Process]:
    own = psutil.Process()
    spared = {own.pid, *(parent.pid for parent in own.parents())}
    return [
        process
        for process in psutil.process_iter()
        if process.pid not in spared and _marker_of(process) == str(data_dir)
    ]


def _marker_of(process: psutil.Process) -> str | None:
    try:
        return process.environ().get(MARKER)
    except (psutil.Error, OSError):
        # Gone, or of another user: not of this stack.
        return None
