"""What a sandbox without an engine consists of: a folder, an owner record in it, and the arguments of bwrap."""

import hashlib
import json
import os
import shutil
import socket
import stat
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path

import psutil

from sandbox.far_end import agent_in_a_bubble
from sandbox.filters import seccomp_program
from sandbox.leftovers import MARK
from sandbox.limits import Limits

INSIDE_UID = 1_000
FIRST_OUTSIDE_UID = 1_900_000_000
OUTSIDE_UIDS = 200_000_000
"""systemd's table of user numbers has nobody in this range."""

LASTING = ("home", "workspace")
"""The folders of a sandbox that a snapshot keeps."""

REACHABLE = "/mnt"
SHOW_AND_BECOME = f"""
mount -t tmpfs -o mode=0755 tmpfs {REACHABLE}
mkdir {REACHABLE}/home {REACHABLE}/workspace
mount --bind "$1/home" {REACHABLE}/home
mount --bind "$1/workspace" {REACHABLE}/workspace
user=$2
shift 2
cd /
exec setpriv --reuid "$user" --regid "$user" --clear-groups --bounding-set=-all --no-new-privs "$@"
"""

PYTHON = "/usr/bin/python3"
ETC = (
    "alternatives",
    "ca-certificates",
    "ca-certificates.conf",
    "chromium",
    "chromium.d",
    "debian_version",
    "fonts",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "localtime",
    "magic",
    "mime.types",
    "os-release",
    "pki",
    "profile",
    "services",
    "protocols",
    "ssl",
    "terminfo",
)
OWN_ETC = {
    "passwd": "root:x:0:0:root:/root:/usr/sbin/nologin\nagent:x:1000:1000:agent:/home/agent:/bin/bash\n",
    "group": "root:x:0:\nagent:x:1000:\n",
    "hosts": "127.0.0.1 localhost sandbox\n::1 localhost\n",
    "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
}


@dataclass(frozen=True)
class Bubble:
    """The owner record: whose it is, and which process is its first."""

    owner: str
    pid: int = 0
    born: float = 0.0
    """Start time of that process, since numbers are used again."""

    def running(self, pid: int) -> "Bubble":
        return replace(self, pid=pid, born=psutil.Process(pid).create_time())

    def process(self) -> psutil.Process | None:
        """The first process, if it lives."""
        try:
            process = psutil.Process(self.pid) if self.pid else None
            if process is None or abs(process.create_time() - self.born) > 0.1:
                return None
            return None if process.status() == psutil.STATUS_ZOMBIE else process
        except psutil.NoSuchProcess:
            return None


class Folder:
    """The folder of one sandbox: `record.json`, `socket`, and what is mounted: `home`, `workspace`."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def make(self, uid: int | None) -> None:
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        for name in LASTING:
            (self.path / name).mkdir(mode=0o755, exist_ok=True)
            if uid is not None:
                os.chown(self.path / name, uid, uid)

    def read(self) -> Bubble | None:
        try:
            return Bubble(**json.loads((self.path / "record.json").read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return None

    def write(self, bubble: Bubble) -> None:
        part = self.path / "record.part"
        part.write_text(json.dumps(asdict(bubble)), encoding="utf-8")
        part.replace(self.path / "record.json")

    def remove(self) -> None:
        shutil.rmtree(self.path, onerror=_open_and_retry)
        if self.path.exists():
            shutil.rmtree(self.path)

    @contextmanager
    def opened(self) -> Iterator[int]:
        """A descriptor of the folder: socket paths have 108 bytes, and folders may lie deeper."""
        descriptor = os.open(self.path, os.O_PATH | os.O_DIRECTORY)
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    @contextmanager
    def listening(self) -> Iterator[socket.socket]:
        """The socket that the sandbox inherits. Its path lies outside, so that nothing inside can replace it."""
        (self.path / "socket").unlink(missing_ok=True)
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener, self.opened() as descriptor:
            listener.bind(f"/proc/self/fd/{descriptor}/socket")
            listener.listen(16)
            yield listener


def outside_uid(sandbox_id: str) -> int | None:
    """As root: a user of the machine that owns nothing, one for each sandbox. Else None: it is the user's own."""
    if os.geteuid() != 0:
        return None
    return FIRST_OUTSIDE_UID + int.from_bytes(hashlib.sha256(sandbox_id.encode()).digest()[:6], "big") % OUTSIDE_UIDS


def arguments(
    folder: Folder, uid: int | None, listener: int, facts: int, limits: Limits
) -> tuple[list[str], list[int]]:
    """The whole command, and the descriptors it needs; the caller closes them after the start."""
    descriptors: list[int] = []
    command = ["bwrap", "--unshare-all", "--unshare-user", "--uid", str(INSIDE_UID), "--gid", str(INSIDE_UID)]
    command += [
        "--hostname",
        "sandbox",
        "--new-session",
        "--as-pid-1",
        "--cap-drop",
        "ALL",
        "--clearenv",
        "--info-fd",
        str(facts),
    ]
    command += ["--setenv", MARK, folder.path.name]
    if _knows("--disable-userns"):
        command += ["--disable-userns"]
    command += _system()
    scratch = limits.memory_bytes // 2
    command += ["--proc", "/proc", "--dev", "/dev", "--size", str(scratch), "--tmpfs", "/dev/shm"]  # noqa: S108  its own
    command += ["--perms", "1777", "--size", str(scratch), "--tmpfs", "/tmp"]  # noqa: S108  the sandbox's own
    command += ["--size", "16777216", "--tmpfs", "/run"]
    for name, content in OWN_ETC.items():
        descriptors.append(_memory_file(name, content.encode()))
        command += ["--perms", "0644", "--ro-bind-data", str(descriptors[-1]), f"/etc/{name}"]
    descriptors.append(_memory_file("seccomp", seccomp_program()))
    command += ["--seccomp", str(descriptors[-1])]
    sources = folder.path if uid is None else Path(REACHABLE)
    command += ["--bind", str(sources / "home"), "/home/agent", "--bind", str(sources / "workspace"), "/workspace"]
    command += ["--remount-ro", "/", "--chdir", "/workspace", "--"]
    # As an argument it would fill every list of processes.
    descriptors.append(_memory_file("agent", agent_in_a_bubble()))
    command += [PYTHON, "-I", "-S", f"/proc/self/fd/{descriptors[-1]}", str(listener), str(limits.processes)]
    command += [str(limits.memory_bytes), str(limits.open_files)]
    return (command if uid is None else [*_as_user(folder.path, uid), *command]), descriptors


def _as_user(path: Path, uid: int) -> list[str]:
    """As root: show the folder to a user who cannot reach it by its path, in a mount namespace, and become them."""
    words = ["unshare", "--mount", "--propagation", "private", "/bin/sh", "-ec", SHOW_AND_BECOME, "sh", str(path)]
    return [*words, str(uid)]


def _system() -> list[str]:
    """The machine's programs, read-only; of /etc only what programs need and holds no secret."""
    words = ["--ro-bind", "/usr", "/usr"]
    for name in ("bin", "sbin", "lib", "lib32", "lib64", "libx32"):
        path = Path("/") / name
        if path.is_symlink():
            words += ["--symlink", str(path.readlink()), str(path)]
        elif path.is_dir():
            words += ["--ro-bind", str(path), str(path)]
    for name in ETC:
        words += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
    return words


def _memory_file(name: str, content: bytes) -> int:
    descriptor = os.memfd_create(name)
    os.write(descriptor, content)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


@cache
def _knows(option: str) -> bool:
    help_text = subprocess.run(["bwrap", "--help"], capture_output=True, text=True, check=False)  # noqa: S607  the PATH is ours
    return option in help_text.stdout + help_text.stderr


def _open_and_retry(_function: object, path: str, _error: object) -> None:
    """Folders whose owner took away their own permissions."""
    with suppress(OSError):
        parent = Path(path).parent
        parent.chmod(stat.S_IRWXU)
        if not Path(path).is_symlink():
            Path(path).chmod(stat.S_IRWXU)
