"""What a container may not do and how much it may use: the engine's settings for every sandbox."""

from importlib.resources import files
from typing import Any

import docker

from sandbox.limits import Limits

GVISOR = "runsc"
SCRATCH = "rw,nosuid,nodev,exec,mode=1777,size={megabytes}m"
RUN = "rw,nosuid,nodev,noexec,mode=0755,uid=1000,gid=1000,size=16m"


def volumes(sandbox_id: str) -> dict[str, str]:
    """The volumes of a sandbox and where they are mounted, by the name of their tree."""
    return {"home": f"{sandbox_id}-home", "workspace": f"{sandbox_id}-workspace"}


MOUNTS = {"home": "/home/agent", "workspace": "/workspace"}


def host_config(sandbox_id: str, runtime: str, limits: Limits) -> dict[str, Any]:
    """Arguments of docker-py's `create_host_config`."""
    names = volumes(sandbox_id)
    ulimits = [docker.types.Ulimit(name="core", soft=0, hard=0)]
    if runtime == GVISOR:
        # A pids cgroup also counts gVisor's own threads and crashes it.
        ulimits.append(docker.types.Ulimit(name="nproc", soft=limits.processes, hard=limits.processes))
    return {
        "runtime": runtime,
        "network_mode": "none",
        "cap_drop": ["ALL"],
        "security_opt": ["no-new-privileges", f"seccomp={_seccomp_profile()}"],
        "read_only": True,
        "tmpfs": {"/tmp": SCRATCH.format(megabytes=limits.memory_mb // 2), "/run": RUN},  # noqa: S108  the container's own
        "binds": {names[tree]: {"bind": place, "mode": "rw"} for tree, place in MOUNTS.items()},
        "mem_limit": limits.memory_bytes,
        "memswap_limit": limits.memory_bytes,
        "nano_cpus": int(limits.cpus * 1_000_000_000),
        "pids_limit": None if runtime == GVISOR else limits.processes,
        "ulimits": ulimits,
        "shm_size": limits.memory_bytes // 4,
        "ipc_mode": "private",
        "init": True,
        "log_config": docker.types.LogConfig(type="none"),
        "restart_policy": {"Name": "no"},
    }


def _seccomp_profile() -> str:
    return files("sandbox.drivers").joinpath("seccomp.json").read_text(encoding="utf-8")
