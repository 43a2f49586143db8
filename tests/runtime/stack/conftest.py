"""A data folder with a stack of the real Temporal server and two stand-ins; nothing of it outlives the test."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from runtime.paths import DataPaths
from runtime.settings import Settings
from runtime.stack.down import down
from runtime.stack.part import HttpHealth, Part, Stack
from runtime.stack.parts import stack_of
from runtime.stack.processes import MARKER, PROJECT
from runtime.stack.state import StackState, read_state
from runtime.stack.up import UpOutcome, up
from tests.ports import free_ports

STAND_IN = Path(__file__).with_name("stand_in.py")


def eventually(is_true: Callable[[], bool], seconds: float = 30.0) -> None:
    """Wait until it holds; a wait that is too long is a failed test."""
    until = time.monotonic() + seconds
    while not is_true():
        assert time.monotonic() < until, "it did not come true in time"
        time.sleep(0.05)


class Site:
    """One data folder, and what a test does with its stack."""

    def __init__(self, root: Path) -> None:
        self.paths = DataPaths(root)
        self.journal = root.with_suffix(".journal")
        self.temporal_port, self.ui_port, self.worker_port, self.gateway_port = free_ports(4)
        self.seen: list[StackState] = []

    def stand_in(self, name: str, port: int, *flags: str, **changes: object) -> Part:
        argv = (sys.executable, str(STAND_IN), "--port", str(port), "--name", name, "--journal", str(self.journal))
        fields = {
            "name": name,
            "argv": (*argv, *flags),
            "health": HttpHealth(port=port),
            "ports": {f"ASOS_{name.upper()}_PORT": port},
            "starts_within_seconds": 20.0,
            "stops_within_seconds": 3.0,
        }
        return Part.model_validate({**fields, **changes})

    @property
    def worker(self) -> Part:
        return self.stand_in("worker", self.worker_port)

    @property
    def gateway(self) -> Part:
        return self.stand_in("gateway", self.gateway_port)

    @property
    def temporal(self) -> Part:
        settings = Settings(data_dir=self.paths.root, temporal_port=self.temporal_port, temporal_ui_port=self.ui_port)
        return stack_of(settings).parts[0]

    def stack(self, *parts: Part) -> Stack:
        return Stack(data_dir=self.paths.root, parts=parts or (self.worker, self.gateway))

    def up(self, *parts: Part, wait: bool = True) -> UpOutcome:
        return up(self.stack(*parts), dict(os.environ), self.seen.append, wait=wait)

    def pids(self) -> list[int]:
        """Every living process of this stack."""
        parts = [process.pid for process in psutil.process_iter() if _belongs(process, self.paths.root)]
        supervisors = {state.supervisor.pid for state in self.seen if state.supervisor.process() is not None}
        return [*supervisors, *parts]

    def words(self) -> list[str]:
        return self.journal.read_text().splitlines() if self.journal.exists() else []

    def times_of(self, word: str) -> list[float]:
        """When each of these words was written, by the stand-in's own clock."""
        lines = self.journal.with_suffix(".times").read_text().splitlines()
        return [float(line.split(" ", 1)[0]) for line in lines if line.split(" ", 1)[1] == word]

    def phase(self) -> str | None:
        state = read_state(self.paths.stack_state)
        return None if state is None else state.phase

    @contextmanager
    def command(self, name: str, *parts: Part) -> Iterator[subprocess.Popen[bytes]]:
        """`asos up` as a process of its own."""
        argv = [sys.executable, "-m", "tests.runtime.stack.command", name, self.stack(*parts).model_dump_json()]
        with subprocess.Popen(argv, stdout=subprocess.DEVNULL, cwd=PROJECT) as process:
            try:
                yield process
            finally:
                process.kill()

    def run_files(self) -> list[str]:
        return [path.name for path in self.paths.stack_state.parent.iterdir()]


def _belongs(process: psutil.Process, root: Path) -> bool:
    try:
        return process.environ().get(MARKER) == str(root) and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    site = Site(tmp_path / "data")
    yield site
    down(site.paths)
    assert site.pids() == []
