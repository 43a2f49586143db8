"""A real Temporal server for the tests of this folder, one for each test process."""

import asyncio
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from runtime.keys import Keyring
from runtime.settings import Settings
from runtime.stack.part import TemporalHealth
from runtime.stack.parts import stack_of
from runtime.stack.probe import is_healthy
from tests.ports import free_ports


@dataclass(frozen=True)
class Server:
    """A running server with the flags of the embedded stack."""

    settings: Settings


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    root: Path = tmp_path_factory.mktemp("temporal")
    port, ui_port = free_ports(2)
    settings = Settings(data_dir=root, temporal_port=port, temporal_ui_port=ui_port)
    Keyring.load(root)
    (root / "temporal").mkdir()
    with subprocess.Popen(stack_of(settings).parts[0].argv, stdout=subprocess.DEVNULL) as process:
        try:
            until = time.monotonic() + 30
            while not asyncio.run(is_healthy(TemporalHealth(port=port))):
                assert time.monotonic() < until
                time.sleep(0.1)
            yield Server(settings)
        finally:
            process.kill()
