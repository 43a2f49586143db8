"""What a container may not do and how much it may use: the engine's settings for every sandbox."""

from importlib.resources import files
from typing import Any

import docker

from sandbox.limits import Limits

GVISOR = "runsc"
SCRATCH = "rw,nosuid,nodev,exec,mode=1777,size={megabytes}m"
RUN = "rw,nosuid,nodev,noexec,mode=0755,uid=1000,gid=1000,size=16m"
FIRST_TO_GO = 500
"""When the machine itself has no memory left, sandboxes end before what serves them."""

MASKED = (
    "/proc/acpi",
    "/proc/asound",
    "/proc/buddyinfo",
    "/proc/config.gz",
    "/proc/interrupts",
    "/proc/iomem",
    "/proc/ioports",
    "/proc/kallsyms",
    "/proc/kcore",
    "/proc/key-users",
    "/proc/keys",
    "/proc/kmsg",
    "/proc/kpagecount",
    "/proc/kpageflags",
    "/proc/latency_stats",
    "/proc/modules",
    "/proc/sched_debug",
    "/proc/scsi",
    "/proc/slabinfo",
    "/proc/sysrq-trigger",
    "/proc/timer_list",
    "/proc/timer_stats",
    "/proc/vmallocinfo",
    "/sys/devices/virtual/dmi",
    "/sys/devices/virtual/powercap",
    "/sys/firmware",
    "/sys/fs/bpf",
    "/sys/fs/pstore",
    "/sys/fs/selinux",
    "/sys/hypervisor",
    "/sys/kernel",
    "/sys/module",
    "/sys/power",
)
"""What newer engines hide by themselves, and what else tells of the machine and its kernel."""
READ_ONLY = ("/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger")


def volumes(sandbox_id: str) -> dict[str, str]:
    """The volumes of a sandbox and where they are mounted, by the name of their tree."""
    return {"home": f"{sandbox_id}-home", "workspace": f"{sandbox_id}-workspace"}


MOUNTS = {"home": "/home/agent", "workspace": "/workspace"}


def host_config(client: docker.APIClient, sandbox_id: str, runtime: str, limits: Limits) -> dict[str, Any]:
    """The part of a container's settings that holds it in."""
    config: dict[str, Any] = client.create_host_config(**_settings(sandbox_id, runtime, limits))
    return config | {"MaskedPaths": list(MASKED), "ReadonlyPaths": list(READ_ONLY)}


def _settings(sandbox_id: str, runtime: str, limits: Limits) -> dict[str, Any]:
    names = volumes(sandbox_id)
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
        "ulimits": _ulimits(runtime, limits),
        "shm_size": limits.memory_bytes // 4,
        "ipc_mode": "private",
        "cgroupns": "private",
        "oom_score_adj": FIRST_TO_GO,
        "init": True,
        "log_config": docker.types.LogConfig(type="none"),
        "restart_policy": {"Name": "no"},
    }


def _ulimits(runtime: str, limits: Limits) -> list[docker.types.Ulimit]:
    bounds = {"core": 0, "nofile": limits.open_files, "fsize": limits.disk_bytes}
    if runtime == GVISOR:
        # A pids cgroup also counts gVisor's own threads and crashes it.
        bounds["nproc"] = limits.processes
    return [docker.types.Ulimit(name=name, soft=value, hard=value) for name, value in bounds.items()]


def _seccomp_profile() -> str:
    return files("sandbox.drivers").joinpath("seccomp.json").read_text(encoding="utf-8")
