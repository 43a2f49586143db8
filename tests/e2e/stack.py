"""A whole installation in a folder of its own, on ports of its own, started and stopped by its own command."""

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import docker
from rich.console import Console
from temporalio.service import RPCError

from gateway.cli.following import answer_text
from gateway.cli.office import find_task, open_office
from gateway.desk import DeskUnreachable, NoSuchTask, Refused
from runtime.settings import Settings
from runtime.temporal import TemporalUnreachable
from sandbox.leftovers import end_process, marked_processes
from tests.ports import free_port

Found = TypeVar("Found")

ROOT = Path(__file__).parents[2]

PORTS = ("ASOS_TEMPORAL_PORT", "ASOS_TEMPORAL_UI_PORT", "ASOS_GATEWAY_PORT", "ASOS_WORKER_PORT")

PATIENCE_SECONDS = 150.0
"""A machine that runs other tests beside this one is slow; nothing here asserts how fast something is."""


@dataclass(frozen=True)
class Said:
    """What one command gave."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class Installation:
    """Talks to one installation through its command line, and to its processes through signals."""

    def __init__(self, data_dir: Path, environment: Mapping[str, str]) -> None:
        self.data_dir = data_dir
        self.environment = dict(environment)

    def asos(self, *arguments: str, text: str | None = None, timeout: float = PATIENCE_SECONDS) -> Said:
        """Run a command to its end."""
        done = subprocess.run(
            [sys.executable, "-m", "workers.at_once", *arguments],
            cwd=ROOT,
            env=self.environment,
            input=text if text is not None else "",
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )
        return Said(done.returncode, done.stdout, done.stderr)

    def start(self, *arguments: str, typing: bool = False) -> "subprocess.Popen[str]":
        """Run a command in the background; its owner waits for it, and types into it if `typing`."""
        return subprocess.Popen(
            [sys.executable, "-m", "workers.asos", *arguments],
            cwd=ROOT,
            env=self.environment,
            stdin=subprocess.PIPE if typing else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def status(self, task: str = "last") -> Any:
        """What `asos show --json` tells of the task, without the second that a command takes; None if nothing."""
        names = (name for name in self.environment if name.startswith("ASOS_"))
        settings = Settings.model_validate({name[5:].lower(): self.environment[name] for name in names})
        try:
            return asyncio.run(_status(settings, task))
        except (TemporalUnreachable, DeskUnreachable, NoSuchTask, Refused, RPCError):
            return None

    def until(self, true: Callable[[Any], bool], task: str = "last") -> Any:
        """The first status of the task for which this holds."""
        return eventually(lambda: next(iter(s for s in [self.status(task)] if s is not None and true(s)), None))

    def part(self, name: str) -> Any:
        """What the supervisor knows of a process."""
        return next(part for part in self._state()["parts"] if part["name"] == name)

    def supervisor(self) -> int:
        """Its pid."""
        pid: int = self._state()["supervisor"]["pid"]
        return pid

    def kill(self, name: str) -> int:
        """End a process as a power cut would; gives its pid."""
        pid = int(self.part(name)["mark"]["pid"])
        os.kill(pid, signal.SIGKILL)
        return pid

    def halt(self, name: str) -> None:
        """Let a process hang, so that nobody starts another in its place."""
        os.kill(int(self.part(name)["mark"]["pid"]), signal.SIGSTOP)

    def go_on(self, name: str) -> None:
        os.kill(int(self.part(name)["mark"]["pid"]), signal.SIGCONT)

    def wait_for_another(self, name: str, than: int) -> None:
        """Wait until the supervisor has put a healthy process in the place of a killed one."""

        def is_back() -> bool | None:
            part = self.part(name)
            mark = part["mark"]
            return True if part["phase"] == "running" and mark and mark["pid"] != than else None

        eventually(is_back)

    def logs(self) -> str:
        """Everything that the processes have written down."""
        return "\n".join(path.read_text(errors="replace") for path in sorted(self.data_dir.glob("logs/*")))

    def _state(self) -> Any:
        return json.loads((self.data_dir / "run" / "stack.json").read_text())


async def _status(settings: Settings, task: str) -> dict[str, Any]:
    async with open_office(settings, Console(quiet=True)) as office:
        status = await office.desk.status(await find_task(office, task))
        return status.model_dump(mode="json") | {"answer": await answer_text(office, status)}


def eventually(look: Callable[[], Found | None], seconds: float = PATIENCE_SECONDS) -> Found:
    """The first thing that `look` gives."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        found = look()
        if found is not None:
            return found
        time.sleep(0.2)
    raise AssertionError(f"nothing in {seconds:g} s")


@contextmanager
def installation(folder: Path, extra: Mapping[str, str] | None = None) -> Iterator[Installation]:
    """An installation that runs while the block does, and leaves nothing behind."""
    given = prepared(folder, extra)
    try:
        up = given.asos("up", "--json")
        assert up.code == 0, f"{up.out}\n{up.err}\n{given.logs()}"
        yield given
    finally:
        given.asos("down")
        shutil.rmtree(given.data_dir, ignore_errors=True)
        remove_sandboxes(given)


def remove_sandboxes(given: Installation) -> None:
    """Sandboxes outlive `asos down` for the sake of tasks that go on later; here nobody will go on with them."""
    for bubble in marked_processes(given.environment["ASOS_HOST_ID"]):
        end_process(bubble)
    address = given.environment.get("DOCKER_HOST", "unix:///var/run/docker.sock")
    if not Path(address.removeprefix("unix://")).exists():
        return
    name = f"asos-{given.environment['ASOS_HOST_ID']}-"
    with closing(docker.APIClient(base_url=address, version="auto", timeout=60)) as engine:
        for container in engine.containers(all=True, filters={"name": name}):
            engine.remove_container(container["Id"], v=True, force=True)
        for volume in engine.volumes(filters={"name": name})["Volumes"] or []:
            engine.remove_volume(volume["Name"], force=True)


def prepared(folder: Path, extra: Mapping[str, str] | None = None) -> Installation:
    """An installation of which nothing runs yet; whoever starts it ends it with `asos down`."""
    data_dir = folder / "data"
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ASOS_")}
    environment |= {"PYTHONPATH": str(ROOT), "ASOS_DATA_DIR": str(data_dir), "COLUMNS": "200"}
    environment |= {name: str(free_port()) for name in PORTS}
    environment["ASOS_METRICS_PORT"] = str(free_port(neighbours=1))
    environment["ASOS_WARM_SANDBOXES"] = "0"  # made for nobody, they would only slow the other tests down
    environment |= {"ASOS_HOST_ID": f"t{os.getpid()}-{time.time_ns() % 1_000_000}", **(extra or {})}
    return Installation(data_dir, environment)
