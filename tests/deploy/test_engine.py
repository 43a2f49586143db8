"""A private Docker engine starts where none runs, ends without a trace, and leaves foreign engines alone."""

import io
import json
import os
import shutil
import signal
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep

import docker
import pytest

from tests.deploy.scripts import SETUP, Ran, run

ENGINE = SETUP / "engine.sh"
NOBODY = 65534

pytestmark = pytest.mark.engine


@dataclass(frozen=True)
class Private:
    """Where a second engine, apart from the one that tests share, keeps its things."""

    store: Path
    runtime: Path

    def run(self, word: str, **variables: str) -> Ran:
        places = {"DOCKER_HOST": "", "ASOS_ENGINE_STORE": str(self.store), "ASOS_ENGINE_RUN": str(self.runtime)}
        return run(ENGINE, word, variables={**places, **variables})

    @property
    def address(self) -> str:
        return f"unix://{self.runtime}/docker.sock"

    def process_id(self) -> int:
        return int((self.runtime / "dockerd.pid").read_text())


def wait_until_gone(process_id: int) -> None:
    deadline = monotonic() + 10
    while Path(f"/proc/{process_id}").exists() and monotonic() < deadline:
        sleep(0.05)


def run_forever(private: Private) -> int:
    """Start a container of a folder that has nothing but this machine's static shell; gives its process id."""
    busybox = shutil.which("busybox")
    if busybox is None:
        pytest.skip("busybox is not installed; `make test` installs it")
    with io.BytesIO() as image, tarfile.open(fileobj=image, mode="w") as archive:
        archive.add(busybox, "busybox")
        archive.close()
        with closing(docker.DockerClient(base_url=private.address)) as client:
            client.api.import_image_from_data(image.getvalue(), repository="shell")
            container = client.containers.run(
                "shell", ["/busybox", "sleep", "1000"], detach=True, network_mode="none", stop_signal="SIGKILL"
            )
            container.reload()
            return int(container.attrs["State"]["Pid"])


@pytest.fixture
def private() -> Iterator[Private]:
    if os.getuid() != 0:
        pytest.skip("only root can start an engine")
    if Path("/var/run/docker.sock").exists():
        pytest.skip("this machine's own engine would be taken")
    with tempfile.TemporaryDirectory(prefix="asos-e") as folder:
        engine = Private(Path(folder) / "store", Path(folder) / "run")
        yield engine
        engine.run("forget")


def test_it_starts_answers_is_found_again_and_ends_without_a_trace(private: Private) -> None:
    started = private.run("test")
    process_id = private.process_id()
    again = private.run("test")
    with closing(docker.DockerClient(base_url=private.address)) as client:
        driver = client.info()["CgroupDriver"]
    stopped = private.run("stop")

    assert started.result == again.result == private.address
    assert driver == "cgroupfs"
    assert "starting" not in again.told
    assert stopped.code == 0
    assert not Path(f"/proc/{process_id}").exists()
    assert not private.runtime.exists()


def test_one_that_was_killed_starts_again(private: Private) -> None:
    private.run("test")
    process_id = private.process_id()
    os.kill(process_id, signal.SIGKILL)
    wait_until_gone(process_id)

    again = private.run("test")

    assert again.result == private.address, again.told
    assert private.process_id() != process_id


def test_one_that_was_killed_is_stopped_with_what_it_left(private: Private) -> None:
    private.run("test")
    contained = run_forever(private)
    process_id = private.process_id()
    os.kill(process_id, signal.SIGKILL)
    wait_until_gone(process_id)
    survived = Path(f"/proc/{contained}").exists()

    stopped = private.run("stop")

    assert survived
    assert stopped.code == 0, stopped.told
    assert not Path(f"/proc/{contained}").exists()
    assert str(private.store) not in Path("/proc/self/mounts").read_text()


def test_its_settings_leave_the_network_of_the_host_alone(private: Private) -> None:
    private.run("test")

    settings = json.loads((private.store / "daemon.json").read_text())

    assert settings["bridge"] == "none"
    assert settings["iptables"] is False
    assert settings["hosts"] == [private.address]


def test_an_engine_that_answers_is_taken_and_none_is_started(docker_host: str, private: Private) -> None:
    found = private.run("test", DOCKER_HOST=docker_host)

    assert found.result == docker_host
    assert not private.store.exists()


def test_stopping_where_none_runs_is_no_error(private: Private) -> None:
    stopped = private.run("stop")

    assert stopped.code == 0
    assert "none runs" in stopped.told


@pytest.mark.parametrize(("word", "code", "line"), [("run", 0, "bubblewrap takes over"), ("test", 1, "with sudo")])
def test_without_engine_and_root_a_run_falls_back_and_a_test_says_what_is_missing(
    copied_project: Path, word: str, code: int, line: str
) -> None:
    if os.getuid() != 0:
        pytest.skip("only root can become another user")

    told = run(
        copied_project / "deploy" / "setup" / "engine.sh", word, as_user=NOBODY,
        variables={"DOCKER_HOST": "", "ASOS_ENGINE_RUN": "/nonexistent"},
    )  # fmt: skip

    assert told.code == code, told.told
    assert told.result == ""
    assert line in told.last_line
