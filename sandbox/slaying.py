"""Ends or freezes the sandboxes of an owner from outside, by their marks: no process that serves them is needed.

It speaks to the engine itself, since a killed client of an engine leaves its container running.
"""

import os
import signal
import sqlite3
import time
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

import docker
import psutil
from docker.errors import APIError, DockerException
from pydantic import ValidationError
from requests.exceptions import RequestException

from sandbox.drivers.docker import LABEL
from sandbox.engine import client_of, engine_address
from sandbox.hijack import knock
from sandbox.leftovers import marked_processes
from sandbox.records import Record

ENGINE_SECONDS = 10
AT_ONCE = 8
GONE_SECONDS = 8.0
"""How long what was killed may take to be gone."""
ROUNDS = 3
"""Freezing is repeated, since what starts meanwhile is not frozen."""

Act = Callable[[docker.APIClient, str, bool], None]


@dataclass(frozen=True)
class Slain:
    """What was ended or frozen, and what could not be."""

    sandboxes: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    problem: str = ""
    """Why the engine did not do it; empty if it did, or if there is none here."""


@dataclass(frozen=True)
class Quarters:
    """Where the sandboxes of one host are found without asking its worker."""

    host_id: str
    state_dir: Path
    docker_host: str = ""

    @property
    def owner(self) -> str:
        """The mark on all its sandboxes; empty if it never had one."""
        try:
            name = (self.state_dir / "installation").read_text(encoding="ascii").strip()
        except (OSError, UnicodeDecodeError):
            return ""
        return f"{self.host_id}-{name}" if name else ""

    def of_task(self, task_id: str) -> frozenset[str]:
        """Names of the sandboxes of a task, from the register of the host; it is only read."""
        path = self.state_dir / "sandboxes.db"
        found = set()
        with suppress(sqlite3.Error), closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=2)) as database:
            for (text,) in database.execute("SELECT record FROM sandboxes"):
                with suppress(ValidationError):
                    record = Record.model_validate_json(text)
                    if record.owner == task_id:
                        found.add(record.sandbox_id)
        return frozenset(found)


def end(quarters: Quarters, only: Collection[str] | None = None) -> Slain:
    """SIGKILL every process of the sandboxes, or of those named; returns once they are gone. It blocks."""
    return _both(quarters, only, _kill_container, _kill_bubble, until_gone=True)


def freeze(quarters: Quarters) -> Slain:
    """Let all stand still; each is woken by its next use. It blocks."""
    return _both(quarters, None, _pause_container, _stop_bubble, until_gone=False)


def _both(
    quarters: Quarters,
    only: Collection[str] | None,
    container: Act,
    bubble: Callable[[int], None],
    *,
    until_gone: bool,
) -> Slain:
    owner = quarters.owner
    if not owner:
        return Slain()
    bubbles = _bubbles(owner, only, bubble, until_gone=until_gone)
    containers = _containers(owner, only, quarters.docker_host, container, until_gone=until_gone)
    return Slain(
        tuple(sorted({*bubbles.sandboxes, *containers.sandboxes})),
        tuple(sorted({*bubbles.left, *containers.left})),
        containers.problem,
    )


def _containers(
    owner: str,
    only: Collection[str] | None,
    docker_host: str,
    act: Act,
    *,
    until_gone: bool,
) -> Slain:
    address = engine_address(docker_host)
    if address.startswith("unix://") and not Path(address.removeprefix("unix://")).exists():
        return Slain()
    done: set[str] = set()
    try:
        knock(address)
        with closing(client_of(address, ENGINE_SECONDS)) as engine, ThreadPoolExecutor(AT_ONCE) as threads:
            until = time.monotonic() + GONE_SECONDS
            while left := _running(owner, only, engine, paused_too=until_gone):
                list(threads.map(lambda one: _tried(act, engine, *one), left.items()))
                done.update(left)
                if time.monotonic() > until:
                    return Slain(tuple(done), tuple(left))
    except (DockerException, RequestException, OSError) as error:
        return Slain(tuple(done), problem=f"the engine at {address} does not answer: {error}")
    return Slain(tuple(done))


def _running(
    owner: str, only: Collection[str] | None, engine: docker.APIClient, *, paused_too: bool
) -> dict[str, bool]:
    """Names of those that have processes, or are about to, and whether they stand still."""
    alive = ["created", "running", "restarting", *(["paused"] if paused_too else [])]
    wanted = {"label": f"{LABEL}.owner={owner}", "status": alive}
    found = {one["Names"][0].lstrip("/"): one["State"] for one in engine.containers(all=True, filters=wanted)}
    return {name: state == "paused" for name, state in found.items() if only is None or name in only}


def _tried(act: Act, engine: docker.APIClient, name: str, paused: bool) -> None:
    with suppress(APIError):  # it has ended by itself, or somebody else does the same
        act(engine, name, paused)


def _kill_container(engine: docker.APIClient, name: str, paused: bool) -> None:
    if paused:
        with suppress(APIError):
            engine.unpause(name)  # what gVisor has frozen takes no signal, and lets the engine wait for it
    try:
        engine.kill(name, "SIGKILL")
    except APIError:
        engine.remove_container(name, force=True)  # it was made and has not started, or takes no signal


def _pause_container(engine: docker.APIClient, name: str, _paused: bool) -> None:
    engine.pause(name)


def _bubbles(owner: str, only: Collection[str] | None, act: Callable[[int], None], *, until_gone: bool) -> Slain:
    done: set[str] = set()
    until = time.monotonic() + GONE_SECONDS
    rounds = 0
    while found := [one for one in marked_processes(owner) if only is None or one.sandbox_id in only]:
        rounds += 1
        for one in found:
            with suppress(ProcessLookupError, psutil.NoSuchProcess):
                act(int(one.name))
            done.add(one.sandbox_id)
        if (not until_gone and rounds == ROUNDS) or time.monotonic() > until:
            return Slain(tuple(done), tuple({one.sandbox_id for one in found}) if until_gone else ())
        time.sleep(0.02)
    return Slain(tuple(done))


def _kill_bubble(pid: int) -> None:
    """It is the first of its process namespace: the kernel ends all others with it."""
    os.kill(pid, signal.SIGKILL)


def _stop_bubble(pid: int) -> None:
    first = psutil.Process(pid)
    for one in [first, *first.children(recursive=True)]:
        with suppress(psutil.NoSuchProcess):
            one.send_signal(signal.SIGSTOP)
