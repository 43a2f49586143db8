"""A Docker engine beside the one under test, as another machine would have it; ready within two seconds."""

import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import docker

from sandbox.engine import engine_address, request
from sandbox.hijack import knock

START_SECONDS = 60
KIND = "overlay2"


@dataclass
class SecondEngine:
    """An engine that a test may kill and start again."""

    folder: Path
    settings: dict[str, Any]
    process: "subprocess.Popen[bytes] | None" = None

    @property
    def address(self) -> str:
        return f"unix://{self.folder}/docker.sock"

    def start(self) -> None:
        """Call it from the main thread: the engine ends with the thread that started it. Raises: TimeoutError."""
        (self.folder / "daemon.json").write_text(json.dumps(self.settings))
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "TERM", "dockerd", "--config-file", self.folder / "daemon.json"],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        _wait_for(self.address, self.process, self.folder / "log")

    def signal(self, number: signal.Signals) -> None:
        """SIGSTOP lets it hang, SIGCONT go on."""
        assert self.process is not None
        self.process.send_signal(number)

    def kill(self) -> None:
        """The engine alone: what runs in its containers lives on until it starts again, and is then ended."""
        self.signal(signal.SIGKILL)
        assert self.process is not None
        self.process.wait(30)
        # Its containerd has died with it. Where nobody reaps that one, the next engine would take it for a living one.
        (self.folder / "exec" / "containerd" / "containerd.pid").unlink(missing_ok=True)

    def cut_power(self) -> None:
        """Its containers die with it."""
        client = docker.APIClient(base_url=self.address, version="auto")
        containers = [client.inspect_container(found["Id"]) for found in client.containers()]
        client.close()
        self.kill()
        for container in containers:
            os.kill(container["State"]["Pid"], signal.SIGKILL)

    def stop(self) -> None:
        """Leave nothing."""
        if self.process is None:
            return
        if self.process.poll() is not None:
            self.start()
        self.signal(signal.SIGCONT)
        _remove_containers(self.address)
        self.process.terminate()
        self.process.wait(30)


@contextmanager
def second_engine(*images: str) -> Iterator[SecondEngine]:
    """It has these images, and the runtimes of the first one. Needs root and `dockerd`.

    Raises: TimeoutError.
    """
    first = docker.APIClient(base_url=engine_address(""), version="auto")
    store = Path(first.info()["DockerRootDir"])
    folder = Path(tempfile.mkdtemp(prefix="asos-second-", dir=store.parent))
    engine = SecondEngine(folder, _settings(folder, first.info()))
    try:
        with _one_mount(store.parent, folder / "both") as both:
            shared = all(
                _share(request(first, "GET", f"/images/{image}/json").json(), both / store.name, both / folder.name)
                for image in images
            )
        engine.start()
        if not shared:
            _load(images, first, engine.address)
        yield engine
    finally:
        engine.stop()
        first.close()
        _unmount_below(folder)
        shutil.rmtree(folder)


def _settings(folder: Path, first: dict[str, Any]) -> dict[str, Any]:
    return {
        "data-root": f"{folder}/data",
        "exec-root": f"{folder}/exec",
        "pidfile": f"{folder}/pid",
        "hosts": [f"unix://{folder}/docker.sock"],
        "bridge": "none",
        "iptables": False,
        "ip-forward": False,
        "ip-masq": False,
        "userland-proxy": False,
        "exec-opts": [f"native.cgroupdriver={first['CgroupDriver']}"],
        "experimental": True,
        "storage-driver": first["Driver"],
        "runtimes": {name: runtime for name, runtime in first["Runtimes"].items() if name == "runsc"},
    }


def _wait_for(address: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            knock(address)
            docker.APIClient(base_url=address, version="auto").close()
        except (OSError, docker.errors.DockerException):
            time.sleep(0.05)
        else:
            return
    raise TimeoutError(f"dockerd did not start: {log.read_text()[-2_000:]}")


@contextmanager
def _one_mount(folder: Path, place: Path) -> Iterator[Path]:
    """The same folder without the mounts in it: an engine makes its own one, and no link leads out of one."""
    place.mkdir()
    subprocess.run(["mount", "--bind", folder, place], check=True)
    try:
        yield place
    finally:
        subprocess.run(["umount", place], check=True)


def _share(image: dict[str, Any], store: Path, folder: Path) -> bool:
    """Give it the layers that the first engine has, as links to the same files; False where it keeps them otherwise.

    A layer is never written to, and removing a link leaves the first engine's file alone.
    """
    if image["GraphDriver"]["Name"] != KIND or not (store / KIND).is_dir():
        return False
    places = image["GraphDriver"]["Data"]
    lower = places.get("LowerDir", "").split(":")
    layers = [Path(place).parent.name for place in [places["UpperDir"], *lower] if place]
    records = store.glob(f"image/{KIND}/layerdb/sha256/*/cache-id")
    about = Path("image", KIND, "imagedb", "content", "sha256", image["Id"].removeprefix("sha256:"))
    for wanted in [
        about,
        *(record.parent.relative_to(store) for record in records if record.read_text() in layers),
        *(Path(KIND, layer) for layer in layers),
        *(Path(KIND, "l", (store / KIND / layer / "link").read_text()) for layer in layers),
    ]:
        if not (folder / "data" / wanted).is_symlink() and not (folder / "data" / wanted).exists():
            (folder / "data" / wanted).parent.mkdir(parents=True, exist_ok=True)
            subprocess.run(["cp", "-a", "--link", store / wanted, folder / "data" / wanted], check=True)
    _name(folder / "data" / "image" / KIND / "repositories.json", image)
    return True


def _name(record: Path, image: dict[str, Any]) -> None:
    known = json.loads(record.read_text()) if record.exists() else {"Repositories": {}}
    for tag in image["RepoTags"]:
        known["Repositories"].setdefault(tag.partition(":")[0], {})[tag] = image["Id"]
    record.write_text(json.dumps(known))


def _load(images: tuple[str, ...], first: docker.APIClient, address: str) -> None:
    second = docker.APIClient(base_url=address, version="auto", timeout=300)
    try:
        for image in images:
            request(second, "POST", "/images/load", data=first.get_image(image))
    finally:
        second.close()


def _remove_containers(address: str) -> None:
    client = docker.APIClient(base_url=address, version="auto")
    try:
        for container in client.containers(all=True):
            client.remove_container(container["Id"], force=True, v=True)
    finally:
        client.close()


def _unmount_below(folder: Path) -> None:
    for mount in reversed(Path("/proc/self/mounts").read_text().splitlines()):
        if Path(mount.split()[1]).is_relative_to(folder):
            subprocess.run(["umount", "-l", mount.split()[1]], check=False)
