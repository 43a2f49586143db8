"""The control groups of a sandbox, of both versions: read what the kernel counted, or make one without an engine."""

import os
import signal
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from sandbox.driver import Strain
from sandbox.limits import Limits

NEEDED = ("memory", "pids", "cpu")
FOLDER = "asos"
"""Below the root of each hierarchy, so that it is found again whatever group this process runs in."""
PERIOD_MICROSECONDS = 100_000
EMPTY_SECONDS = 5.0

ENTER = 'for group in $1; do echo $$ >"$group/cgroup.procs" || exit 1; done; shift; exec "$@"'


@dataclass(frozen=True)
class Mount:
    """Where one hierarchy is seen, and which of its folders that is."""

    place: Path
    root: str
    controllers: frozenset[str]
    """Empty for version 2, which has all in one."""

    def folder(self, path: str) -> Path:
        below = path.removeprefix(self.root) if self.root != "/" else path
        return self.place / below.lstrip("/")


@dataclass(frozen=True)
class Group:
    """The folders of one group, by controller; with version 2 they are all the same."""

    folders: Mapping[str, Path]

    def strain(self) -> Strain:
        memory, pids = self.folders.get("memory"), self.folders.get("pids")
        return Strain(
            memory_kills=_count(memory, ("memory.events", "memory.oom_control"), "oom_kill"),
            refused_processes=_count(pids, ("pids.events",), "max"),
        )

    def processes(self) -> list[int]:
        """Every process in it; empty where that cannot be read."""
        with suppress(OSError, StopIteration):
            folder = next(iter(self.folders.values()))
            return [int(line) for line in (folder / "cgroup.procs").read_text(encoding="ascii").split()]
        return []

    def entering(self, command: Sequence[str]) -> list[str]:
        """The command, run by a process that has moved into the group."""
        folders = " ".join(dict.fromkeys(map(str, self.folders.values())))
        return ["/bin/sh", "-c", ENTER, "sh", folders, *command]

    def end(self) -> None:
        """Kill what is in it."""
        for pid in self.processes():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def remove(self) -> None:
        """Raises: OSError if something still runs in it."""
        until = time.monotonic() + EMPTY_SECONDS
        for folder in set(self.folders.values()):
            while folder.exists():
                try:
                    folder.rmdir()
                except OSError:
                    # The kernel counts what has just been killed until it is buried.
                    if time.monotonic() > until:
                        raise
                    time.sleep(0.01)


def of_process(pid: int, must_contain: str = "") -> Group | None:
    """The group of a process of this machine; None if its path does not name what it must, as with a foreign number."""
    try:
        lines = Path(f"/proc/{pid}/cgroup").read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    mounts = _mounts()
    folders: dict[str, Path] = {}
    for line in lines:
        _, names, path = line.split(":", 2)
        for controller in NEEDED:
            mount = _mount_of(controller, mounts) if not names or controller in names.split(",") else None
            if mount is not None and bool(mount.controllers) is bool(names) and must_contain in path:
                folders.setdefault(controller, mount.folder(path))
    return Group(folders) if folders else None


def named(name: str) -> Group | None:
    """The group that `make` made under that name, whether it is still there or not; None where there can be none."""
    mounts = _mounts()
    found = {controller: _mount_of(controller, mounts) for controller in NEEDED}
    folders = {controller: mount.place / FOLDER / name for controller, mount in found.items() if mount is not None}
    return Group(folders) if len(folders) == len(NEEDED) else None


def make(name: str, limits: Limits) -> Group | None:
    """A group with these bounds, or None where this process may not make one."""
    group = named(name)
    if group is None or os.geteuid() != 0:
        return None
    try:
        for controller in NEEDED:
            _prepare(group.folders[controller], controller, limits)
    except OSError:
        with suppress(OSError):
            group.remove()
        return None
    return group


def can_be_made() -> bool:
    """Tried with an empty one."""
    group = make(f"probe-{os.getpid()}", Limits())
    if group is not None:
        group.remove()
    return group is not None


def _prepare(folder: Path, controller: str, limits: Limits) -> None:
    mount = folder.parent.parent
    unified = (mount / "cgroup.controllers").exists()
    if unified:
        for above in (mount, folder.parent):
            above.mkdir(mode=0o755, exist_ok=True)
            (above / "cgroup.subtree_control").write_text(f"+{controller}", encoding="ascii")
    folder.mkdir(mode=0o755, parents=True, exist_ok=True)
    for name, value, must in _values(controller, limits, unified=unified):
        if must or (folder / name).exists():
            (folder / name).write_text(value, encoding="ascii")


def _values(controller: str, limits: Limits, *, unified: bool) -> list[tuple[str, str, bool]]:
    """Files, what belongs in them, and whether they must exist: without swap accounting there is no file for it."""
    if controller == "pids":
        return [("pids.max", str(limits.processes), True)]
    quota = int(limits.cpus * PERIOD_MICROSECONDS)
    memory = str(limits.memory_bytes)
    if controller == "cpu":
        if unified:
            return [("cpu.max", f"{quota} {PERIOD_MICROSECONDS}", True)]
        return [("cpu.cfs_period_us", str(PERIOD_MICROSECONDS), True), ("cpu.cfs_quota_us", str(quota), True)]
    if unified:
        return [("memory.max", memory, True), ("memory.swap.max", "0", False)]
    return [("memory.limit_in_bytes", memory, True), ("memory.memsw.limit_in_bytes", memory, False)]


def _mount_of(controller: str, mounts: Sequence[Mount]) -> Mount | None:
    """Version 1 wins where the controller is there: a machine with both has its controllers in one of them."""
    for mount in mounts:
        if controller in mount.controllers:
            return mount
    for mount in mounts:
        if not mount.controllers and controller in _words(mount.place / "cgroup.controllers"):
            return mount
    return None


def _mounts() -> list[Mount]:
    found = []
    with suppress(OSError):
        for line in Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines():
            before, _, after = line.partition(" - ")
            kind, _, options = after.split(" ", 2)
            if kind not in ("cgroup", "cgroup2"):
                continue
            _, _, _, root, place, *_ = before.split(" ")
            controllers = frozenset(options.split(",")) & set(NEEDED) if kind == "cgroup" else frozenset()
            if kind == "cgroup2" or controllers:
                found.append(Mount(Path(place), root, controllers))
    return found


def _count(folder: Path | None, files: Sequence[str], word: str) -> int | None:
    for name in files if folder is not None else ():
        words = _words(folder / name) if folder is not None else []
        if word in words[:-1]:
            return int(words[words.index(word) + 1])
    return None


def _words(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="ascii").split()
    except OSError:
        return []
