"""What the engine's machine has counted for a container: kills for want of memory, refused processes, disk."""

import time
from pathlib import Path

import docker

from sandbox import cgroups, disk
from sandbox.driver import Strain
from sandbox.hardening import volumes


def strain(sandbox_id: str, client: docker.APIClient) -> Strain:
    """From its control group; from the engine's memory of events where that is on another machine."""
    facts = client.inspect_container(sandbox_id)
    group = _group(facts["State"]["Pid"], facts["Id"])
    found = group.strain() if group else Strain()
    if found.memory_kills is not None:
        return found
    wanted = {"container": facts["Id"], "event": "oom"}
    events = client.events(since=0, until=int(time.time()) + 1, filters=wanted, decode=True)
    return Strain(memory_kills=sum(1 for _ in events), refused_processes=found.refused_processes)


def used_bytes(sandbox_id: str, client: docker.APIClient) -> int | None:
    """None where the engine's folders are not this machine's or may not be read."""
    folders = [Path(client.inspect_volume(name)["Mountpoint"]) for name in volumes(sandbox_id).values()]
    facts = client.inspect_container(sandbox_id)
    group = _group(facts["State"]["Pid"], facts["Id"])
    return disk.used_bytes(folders, group.processes() if group else ())


def _group(pid: int, container_id: str) -> cgroups.Group | None:
    return cgroups.of_process(pid, must_contain=container_id) if pid else None
