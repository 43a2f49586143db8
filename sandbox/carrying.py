"""Carries the files of a checkpoint between a folder here and one on the engine's machine, through the engine alone.

A container that never starts has the far folder as a mount; the engine's archive calls read and write in it. So it
takes no root here, and the engine may be elsewhere.
"""

import shutil
import tarfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import Any

import docker
from docker.errors import NotFound

from sandbox.engine import request

PLACE = "/checkpoints"
PIECE = 1_048_576
BLOCK = 512


def fetch(facts: Mapping[str, Any], far: str, name: str, into: Path, client: docker.APIClient) -> None:
    """The plain files of the folder `name` in the far folder. `facts` are those of the container that they belong to.

    Raises: APIError, OSError, tarfile.TarError."""
    with _carrier(facts, far, client) as carrier:
        path, params = f"/containers/{carrier}/archive", {"path": f"{PLACE}/{name}"}
        with (
            request(client, "GET", path, params=params, stream=True) as answer,
            tarfile.open(mode="r|", fileobj=answer.raw) as archive,
        ):
            for member in archive:
                content = archive.extractfile(member)
                if content is not None:
                    with (into / PurePosixPath(member.name).name).open("xb") as file:
                        shutil.copyfileobj(content, file, PIECE)


def bring(
    facts: Mapping[str, Any], far: str, name: str, files: Mapping[str, Path | bytes], client: docker.APIClient
) -> None:
    """Make the folder `name` with these files in the far folder. Raises: APIError, OSError."""
    with _carrier(facts, far, client) as carrier:
        path, params = f"/containers/{carrier}/archive", {"path": PLACE}
        request(client, "PUT", path, params=params, data=_packed(name, files)).close()


@contextmanager
def _carrier(facts: Mapping[str, Any], far: str, client: docker.APIClient) -> Iterator[str]:
    """Its labels let the sweep find one that a crash left."""
    name = f"{facts['Name'].lstrip('/')}-carrier"
    binds: dict[str, Mapping[str, str]] = {far: {"bind": PLACE, "mode": "rw"}}
    with suppress(NotFound):
        client.remove_container(name, force=True)
    client.create_container(
        facts["Image"],
        command=["true"],
        name=name,
        labels=facts["Config"]["Labels"],
        host_config=client.create_host_config(network_mode="none", cap_drop=["ALL"], binds=binds),
    )
    try:
        yield name
    finally:
        client.remove_container(name, force=True)


def _packed(name: str, files: Mapping[str, Path | bytes]) -> Iterator[bytes]:
    """A tar archive, never whole in memory."""
    for file, content in files.items():
        head = tarfile.TarInfo(f"{name}/{file}")
        head.mode = 0o600
        head.size = len(content) if isinstance(content, bytes) else content.stat().st_size
        yield head.tobuf(tarfile.GNU_FORMAT)
        if isinstance(content, bytes):
            yield content
        else:
            with content.open("rb") as opened:
                while piece := opened.read(PIECE):
                    yield piece
        yield bytes(-head.size % BLOCK)
    yield bytes(2 * BLOCK)
