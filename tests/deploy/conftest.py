"""The engine and images that `make test` has made ready."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import docker
import pytest

from tests.deploy.scripts import ROOT, SETUP, run


@pytest.fixture(scope="session")
def docker_host() -> str:
    """Address of the engine under test."""
    host = run(SETUP / "engine.sh", "find").result
    if not host:
        pytest.skip("no Docker engine answers; `make test` starts one")
    return host


@pytest.fixture(scope="session")
def engine(docker_host: str) -> Iterator[docker.DockerClient]:
    client = docker.DockerClient(base_url=docker_host)
    yield client
    client.close()


@pytest.fixture
def copied_project() -> Iterator[Path]:
    """The scripts and declarations alone in a folder that every user may read, so that a test can break them."""
    with tempfile.TemporaryDirectory(prefix="asos-copy-") as folder:
        copy = Path(folder)
        copy.chmod(0o777)
        shutil.copytree(ROOT / "deploy", copy / "deploy")
        shutil.copytree(ROOT / "sandbox_images", copy / "sandbox_images")
        yield copy
