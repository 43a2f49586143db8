"""Looks into an installation's sandboxes from outside, past all that the product does."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import docker
from docker.errors import APIError

from tests.e2e.stack import Installation, eventually


def wait_for_file(given: Installation, name: str) -> None:
    """Until a command has made this file in the workspace of a sandbox."""
    eventually(lambda: True if _in_container(given, name) or _in_bubble(given, name) else None)


def containers_of(given: Installation) -> list[str]:
    """Names of the containers, running or not, that this installation has made."""
    engine = _engine(given)
    if engine is None:
        return []
    with closing(engine):
        return list(_names(given, engine))


def _names(given: Installation, engine: docker.APIClient) -> Iterator[str]:
    prefix = f"/asos-{given.environment['ASOS_HOST_ID']}-"
    for container in engine.containers(all=True):
        yield from (name for name in container["Names"] if name.startswith(prefix))


def _in_container(given: Installation, name: str) -> bool:
    engine = _engine(given)
    if engine is None:
        return False
    with closing(engine):
        return any(_holds(engine, container, name) for container in _names(given, engine))


def _holds(engine: docker.APIClient, container: str, name: str) -> bool:
    try:
        execution: dict[str, Any] = engine.exec_create(container.lstrip("/"), ["test", "-e", f"/workspace/{name}"])
        engine.exec_start(execution["Id"])
        return bool(engine.exec_inspect(execution["Id"])["ExitCode"] == 0)
    except APIError:
        return False


def _in_bubble(given: Installation, name: str) -> bool:
    return any(given.data_dir.glob(f"sandboxes/*/bubblewrap/*/workspace/{name}"))


def _engine(given: Installation) -> docker.APIClient | None:
    address = given.environment.get("DOCKER_HOST", "unix:///var/run/docker.sock")
    if not Path(address.removeprefix("unix://")).exists():
        return None
    return docker.APIClient(base_url=address, version="auto", timeout=30)
