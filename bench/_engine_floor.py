"""The floor of every engine figure: docker-py as its own documentation uses it, with the same image and runtime."""

import io
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager

import docker
from docker.models.containers import Container

from sandbox.engine import engine_address

IMAGE = "agent-sandbox-os/base:latest"
LABEL = "asos-bench"


@contextmanager
def engine() -> Iterator[docker.DockerClient]:
    """A client; what a broken run left is removed first and last."""
    client = docker.DockerClient(base_url=engine_address(""), timeout=120)
    try:
        _clear(client)
        yield client
    finally:
        _clear(client)
        client.close()


def started(client: docker.DockerClient, runtime: str, *argv: str) -> Container:
    """A running container, that does nothing unless told."""
    return client.containers.run(
        IMAGE,
        list(argv) or ["sleep", "infinity"],
        detach=True,
        runtime=runtime,
        network_mode="none",
        labels=[LABEL],
        log_config=docker.types.LogConfig(type="none"),
    )


def run(container: Container, *argv: str) -> None:
    """One command by exec, whose failure is an error."""
    code, output = container.exec_run(list(argv))
    if code != 0:
        raise RuntimeError(f"{argv} ended with {code}: {output!r}")


def put_and_get(container: Container, content: bytes, folder: str = "/workspace") -> None:
    """A file in and out again by the engine's archive calls."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        member = tarfile.TarInfo("bench.bin")
        member.size = len(content)
        archive.addfile(member, io.BytesIO(content))
    container.put_archive(folder, packed.getvalue())
    pieces, _ = container.get_archive(f"{folder}/bench.bin")
    with tarfile.open(fileobj=io.BytesIO(b"".join(pieces))) as archive:
        member_file = archive.extractfile("bench.bin")
        if member_file is None or member_file.read() != content:
            raise RuntimeError("the engine gave back another content")


def _clear(client: docker.DockerClient) -> None:
    for container in client.containers.list(all=True, filters={"label": LABEL}):
        container.remove(force=True)
