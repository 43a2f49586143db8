"""The peer on the same engine, image and runtime: `llm-sandbox`, the library of this kind that pip brings."""

from collections.abc import Iterator
from contextlib import contextmanager

import docker
from llm_sandbox import SandboxSession

from bench._engine_floor import IMAGE, LABEL

NAME = "llm-sandbox"


@contextmanager
def opened(client: docker.DockerClient, runtime: str) -> Iterator[SandboxSession]:
    """One session, as its documentation opens it, without installing anything into it."""
    session = SandboxSession(
        client=client,
        image=IMAGE,
        lang="python",
        keep_template=True,
        skip_environment_setup=True,
        workdir="/tmp",  # noqa: S108  the container's own
        runtime_configs={"runtime": runtime, "network_mode": "none", "labels": [LABEL]},
    )
    session.open()
    try:
        yield session
    finally:
        session.close()


def run(session: SandboxSession) -> None:
    """One command, whose failure is an error."""
    outcome = session.execute_command("true")
    if outcome.exit_code != 0:
        raise RuntimeError(f"{NAME}: {outcome.stderr}")
