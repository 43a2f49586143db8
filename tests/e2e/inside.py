"""Looks into a task's sandbox from outside, past all that the product does."""

from pathlib import Path
from typing import Any

import docker
from docker.errors import APIError, NotFound

from tests.e2e.stack import Installation, eventually

WORKSPACE = "/workspace"


def wait_for_file(given: Installation, name: str, task: str = "last") -> None:
    """Until the task's command has made this file in its workspace."""
    lease = given.until(lambda status: status["lease"] is not None, task)["lease"]
    eventually(lambda: True if _exists(given, lease, name) else None)


def containers_of(given: Installation) -> list[str]:
    """Names of the containers, running or not, that this installation has made."""
    client = _engine(given)
    if client is None:
        return []
    try:
        return [name for container in client.containers(all=True) for name in _own_names(given, container)]
    finally:
        client.close()


def _own_names(given: Installation, container: dict[str, Any]) -> list[str]:
    return [name for name in container["Names"] if f"asos-{given.environment['ASOS_HOST_ID']}-" in name]


def _exists(given: Installation, lease: dict[str, Any], name: str) -> bool:
    if lease["driver"] == "bubblewrap":
        return (_workspace(given, lease) / name).exists()
    client = _engine(given)
    assert client is not None
    try:
        execution = client.exec_create(lease["sandbox_id"], ["test", "-e", f"{WORKSPACE}/{name}"])
        client.exec_start(execution["Id"])
        return bool(client.exec_inspect(execution["Id"])["ExitCode"] == 0)
    except (NotFound, APIError):
        return False
    finally:
        client.close()


def _workspace(given: Installation, lease: dict[str, Any]) -> Path:
    return given.data_dir / "sandboxes" / "bubblewrap" / str(lease["sandbox_id"]) / "workspace"


def _engine(given: Installation) -> docker.APIClient | None:
    address = given.environment.get("DOCKER_HOST", "unix:///var/run/docker.sock")
    if not Path(address.removeprefix("unix://")).exists():
        return None
    return docker.APIClient(base_url=address, version="auto", timeout=30)
