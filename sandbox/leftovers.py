"""Everything on a machine that bears the mark of a host, named one by one: what a sweep counts, and its proof."""

import os
import signal
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import docker
import psutil
from docker.errors import NotFound

MARK = "ASOS_SANDBOX"
"""Variable in the environment of every process of a sandbox without an engine; its value is the sandbox's name."""

STARTERS = ("setsid", "unshare", "sh", "mount", "mkdir", "setpriv", "bwrap")
"""What a process is called on its way to the first one of a sandbox without an engine."""

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
    """The first processes of sandboxes of this owner, and what starts such, whether or not anything else is left of
    them; all other processes of a sandbox end with its first."""
    found = []
    for pid in psutil.pids():
        sandbox_id = mark_of(pid)
        if sandbox_id.startswith(f"asos-{owner}-"):
            found.append(Belonging("processes", str(pid), sandbox_id))
    return found


def mark_of(pid: int) -> str:
    """The sandbox that a process begins, or nothing.

    Reading the environment waits for the process's memory lock, on a busy machine for seconds, so it is asked of few.
    """
    try:
        facts = dict(line.split(":", 1) for line in _read(pid, "status").decode("utf-8", "replace").splitlines())
        numbers = facts.get("NSpid", "").split()
        begins = len(numbers) > 1 and numbers[-1] == "1"
        if facts["State"].split()[0] == "Z" or not (begins or facts["Name"].strip() in STARTERS):
            return ""
        variables = _read(pid, "environ").split(b"\0")
    except (OSError, KeyError, ValueError):
        return ""
    mark = f"{MARK}=".encode()
    return next((one[len(mark) :].decode("ascii", "replace") for one in variables if one.startswith(mark)), "")


def end_process(one: Belonging) -> None:
    """Kill it, if that number is still this process, and see it gone."""
    until = time.monotonic() + GONE_SECONDS
    while mark_of(int(one.name)) == one.sandbox_id and time.monotonic() < until:
        with suppress(ProcessLookupError):
            os.kill(int(one.name), signal.SIGKILL)
        time.sleep(0.01)


def _read(pid: int, name: str) -> bytes:
    return Path(f"/proc/{pid}/{name}").read_bytes()
