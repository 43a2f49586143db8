"""Everything on a machine that bears the mark of a host, named one by one: what a sweep counts, and its proof."""

import os
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

import docker
import psutil
from docker.errors import NotFound

MARK = "ASOS_SANDBOX"
"""Variable in the environment of every process of a sandbox without an engine; its value is the sandbox's name."""

GONE_SECONDS = 10.0


@dataclass(frozen=True)
class Belonging:
    """One thing that belongs to a sandbox, or that no sandbox's name leads to."""

    kind: Literal["sandboxes", "volumes", "networks", "folders", "processes"]
    name: str
    sandbox_id: str = ""


def engine_belongings(label: str, owner: str, client: docker.APIClient) -> list[Belonging]:
    """Containers, volumes and networks with the owner's label. We make no networks; whatever made one, it is told."""
    wanted = {"label": f"{label}.owner={owner}"}

    def of(labels: dict[str, str] | None) -> str:
        return (labels or {}).get(f"{label}.id", "")

    containers = client.containers(all=True, filters=wanted)
    return [
        *(Belonging("sandboxes", one["Names"][0].lstrip("/"), of(one["Labels"])) for one in containers),
        *(
            Belonging("volumes", one["Name"], of(one["Labels"]))
            for one in client.volumes(filters=wanted)["Volumes"] or []
        ),
        *(Belonging("networks", one["Name"], of(one["Labels"])) for one in client.networks(filters=wanted)),
    ]


def discard_from_engine(one: Belonging, client: docker.APIClient) -> None:
    """Remove this one thing; what is gone already is no error."""
    try:
        if one.kind == "sandboxes":
            client.remove_container(one.name, force=True, v=True)
        elif one.kind == "volumes":
            client.remove_volume(one.name, force=True)
        elif one.kind == "networks":
            client.remove_network(one.name)
    except NotFound:
        return


def marked_processes(owner: str) -> list[Belonging]:
    """Processes of sandboxes of this owner, whether or not anything else is left of those."""
    found = []
    for process in psutil.process_iter():
        sandbox_id = mark_of(process)
        if sandbox_id.startswith(f"asos-{owner}-"):
            found.append(Belonging("processes", str(process.pid), sandbox_id))
    return found


def mark_of(process: psutil.Process) -> str:
    """The sandbox that a process belongs to, or nothing; our own process has none, whatever started it."""
    if process.pid == os.getpid():
        return ""
    try:
        return "" if process.status() == psutil.STATUS_ZOMBIE else process.environ().get(MARK, "")
    except (psutil.Error, OSError):
        return ""


def end_process(one: Belonging) -> None:
    """Kill it, if that number is still this process, and see it gone."""
    until = time.monotonic() + GONE_SECONDS
    with suppress(psutil.NoSuchProcess):
        process = psutil.Process(int(one.name))
        while mark_of(process) == one.sandbox_id and time.monotonic() < until:
            process.kill()
            time.sleep(0.01)
