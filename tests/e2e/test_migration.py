"""Two machines of one installation, each with its own engine and data, and one store of snapshots: one of them dies."""

import os
import shutil
import signal
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import docker
import pytest

from tests.e2e.stack import Installation, eventually, installation, prepared, remove_sandboxes
from tests.sandbox.stores import BUCKET, s3_server
from tests.second_engine import SecondEngine, second_engine

pytestmark = [
    pytest.mark.slow,
    pytest.mark.engine,
    pytest.mark.timeout(900),
    pytest.mark.skipif(os.geteuid() != 0, reason="a second engine needs root"),
]

PLAN = """/plan
steps:
  - id: write
    tool: shell
    args: {script: "echo kept > file"}
  - id: read
    tool: shell
    after: [write]
    args: {script: "python3 -c 'print(open(\\"file\\").read())'"}
answer: "it says {{ steps.read.stdout }}"
"""
"""Its second step is code that policy cannot read: it asks, and the sandbox is saved and frozen meanwhile."""

LOST_SECONDS = 400.0
"""A host that restarts is waited for: 90 s. All is slower on a busy machine."""


def test_a_task_outlives_the_machine_that_its_sandbox_was_on(tmp_path: Path) -> None:
    (tmp_path / "s3").mkdir()
    with second_engine("agent-sandbox-os/base:latest") as engine, s3_server(tmp_path / "s3") as s3:
        store = {
            "ASOS_SNAPSHOT_STORE": f"s3://{BUCKET}/migration",
            "ASOS_S3_ENDPOINT": s3.endpoint,
            "ASOS_S3_ACCESS_KEY": s3.access_key,
            "ASOS_S3_SECRET_KEY": s3.secret_key,
            "ASOS_SANDBOX_IMAGE": "base",
            "ASOS_SANDBOX_RUNTIME": "runc",
        }
        with (
            installation(tmp_path / "main", {**store, "ASOS_WORKER_ROLE": "control"}) as main,
            machine(main, tmp_path / "first", {**store, "ASOS_DOCKER_HOST": engine.address}) as first,
        ):
            asked = main.asos("ask", PLAN, "--json", "--no-wait")
            assert asked.code == 3, asked.out + asked.err + main.logs()[-4000:] + first.logs()[-4000:]
            eventually(lambda: True if sandbox(main)["state"] == "paused" else None)
            assert sandbox(main)["lease"]["host_id"] == first.environment["ASOS_HOST_ID"]

            with machine(main, tmp_path / "second", store):
                lose_power(first, engine)
                assert main.asos("approve", "last").code == 0
                ended = eventually(
                    lambda: given if (given := main.status()) and given["outcome"] else None, LOST_SECONDS
                )
                assert (ended["outcome"], ended["notes"]) == ("done", ["sandbox_restored"]), ended
                assert "it says kept" in ended["answer"]

                # when the first machine is back, it clears away what is no longer its own
                engine.start()
                assert everything_at(engine) != []
                assert first.asos("up", "--json").code == 0
                eventually(lambda: True if everything_at(engine) == [] else None, LOST_SECONDS)
                assert main.status()["answer"] == ended["answer"]


@contextmanager
def machine(main: Installation, folder: Path, extra: Mapping[str, str]) -> Iterator[Installation]:
    """A further machine as docs/operations.md has it: the keys are copied, the blobs are shared."""
    server = f"127.0.0.1:{main.environment['ASOS_TEMPORAL_PORT']}"
    host = {"ASOS_HOST_ID": f"{main.environment['ASOS_HOST_ID']}-{folder.name}", "ASOS_WORKER_ROLE": "host"}
    given = prepared(folder, {**extra, **host, "ASOS_TEMPORAL_ADDRESS": server})
    given.data_dir.mkdir(parents=True, mode=0o700)
    shutil.copytree(main.data_dir / "keys", given.data_dir / "keys")
    shutil.copyfile(main.data_dir / "policy.yaml", given.data_dir / "policy.yaml")
    (given.data_dir / "blobs").symlink_to(main.data_dir / "blobs")
    try:
        up = given.asos("up", "--json")
        assert up.code == 0, f"{up.out}\n{up.err}\n{given.logs()}"
        yield given
    finally:
        given.asos("down")
        remove_sandboxes(given)


def lose_power(given: Installation, engine: SecondEngine) -> None:
    os.kill(given.supervisor(), signal.SIGKILL)
    given.kill("worker")
    engine.cut_power()


def sandbox(given: Installation) -> Any:
    return given.asos("sandbox", "show", "last", "--json").json


def everything_at(engine: SecondEngine) -> list[str]:
    """Containers and volumes."""
    with closing(docker.APIClient(base_url=engine.address, version="auto")) as client:
        containers = [found["Id"] for found in client.containers(all=True)]
        return [*containers, *(found["Name"] for found in client.volumes()["Volumes"] or [])]
