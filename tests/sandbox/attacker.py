"""What an attacker inside a sandbox tries; prints one JSON object that says by name what became of each.

Runs inside, under whatever Python is there, so it keeps to the standard library. What is refused shows the name of the
error, what succeeds `done` and what it gave.
"""

import ctypes
import errno
import json
import os
import platform
import resource
import socket
import stat
import struct
import subprocess
import sys
from collections.abc import Callable
from typing import Any

Probe = Callable[[], Any]

LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.syscall.restype = ctypes.c_long
ARM = platform.machine() == "aarch64"
BUFFER = ctypes.create_string_buffer(4_096)
SECRETS = ("DOCKER_HOST=", "PYTEST_CURRENT_TEST=", "CANARY=")


def call(x86: int, arm: int, *args: Any) -> int:
    """One system call by its number; raises what the kernel answers."""
    number = arm if ARM else x86
    wide = [ctypes.c_long(arg) if isinstance(arg, int) else arg for arg in args]
    got: int = LIBC.syscall(ctypes.c_long(number), *wide)
    if got < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return got


def libc(name: str, *args: Any) -> None:
    if getattr(LIBC, name)(*args) != 0:
        raise OSError(ctypes.get_errno(), name)


def connected(family: int, address: Any, kind: int = socket.SOCK_STREAM) -> None:
    with socket.socket(family, kind) as end:
        end.settimeout(3)
        end.connect(address)
        if kind == socket.SOCK_DGRAM:
            end.send(b"\0\1\1\0\0\1\0\0\0\0\0\0\1a\0\0\1\0\1")
            end.recv(10)


def written(path: str, text: str = "1") -> None:
    with open(path, "w") as file:
        file.write(text)


def made(family: int, kind: int, protocol: int = 0) -> None:
    socket.socket(family, kind, protocol).close()


def device(path: str, mode: int, major: int, minor: int) -> None:
    os.mknod(path, mode | 0o600, os.makedev(major, minor))
    with open(path, "rb") as file:
        file.read(1)


def read(path: str, size: int = 100) -> str:
    with open(path, "rb") as file:
        return file.read(size).decode("utf-8", "replace")


def proxied(host: str) -> str:
    """What the proxy, the only way out, says of a host."""
    with socket.create_connection(("127.0.0.1", 3128), 10) as end:
        end.sendall(f"CONNECT {host}:443 HTTP/1.1\r\nHost: {host}:443\r\n\r\n".encode())
        answer = end.recv(1_000).split(b"\r\n")[0].decode()
    if " 200 " not in answer:
        raise OSError(errno.EACCES, answer)
    return answer


def clone_into_namespace() -> None:
    if call(56, 220, 0x10000000 | 17, 0, 0, 0, 0) == 0:
        os._exit(0)


def clone_by_memory() -> None:
    if call(435, 435, struct.pack("8Q", 0x10000000, 0, 0, 0, 17, 0, 0, 0), 64) == 0:
        os._exit(0)


def apart(probe: Probe) -> Probe:
    """In a child, since a namespace that is got there would make the other probes easier."""

    def tell() -> str:
        reading, writing = os.pipe()
        child = os.fork()
        if not child:
            os.write(writing, tried(probe).encode())
            os._exit(0)
        os.close(writing)
        with os.fdopen(reading) as answer:
            said = answer.read()
        os.waitpid(child, 0)
        if not said.startswith("done"):
            raise OSError(getattr(errno, said, 0), said)
        return said

    return tell


def setuid_files() -> list[str]:
    """Those that the kernel would honour: on a mount without `nosuid`."""
    look = "find / ( -path /proc -o -path /sys -o -path /dev ) -prune -o -type f -perm /6000 -print"
    found = subprocess.run(look.split(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode().split()
    return [path for path in found if not os.statvfs(path).f_flag & os.ST_NOSUID]


def world() -> dict[str, Any]:
    """What stands in /proc about other processes and sockets, and what leaks of the host."""
    lines, environments = [], []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            lines.append(read(f"/proc/{pid}/cmdline", 100).replace("\0", " "))
            environments.append(read(f"/proc/{pid}/environ", 65_536))
        except OSError:
            continue
    return {
        "commands": lines,
        "secrets": [word for word in SECRETS for text in environments if "\0" + word in "\0" + text],
        "unix": read("/proc/net/unix", 65_536) if os.path.exists("/proc/net/unix") else "",
        "interfaces": sorted(name for _, name in socket.if_nameindex()),
        "status": dict(line.split(":\t", 1) for line in read("/proc/self/status", 8_192).splitlines() if ":\t" in line),
        "descriptors": sorted({os.readlink("/proc/1/fd/" + n) for n in fds("/proc/1/fd")}),
        "devices": sorted(os.listdir("/dev")),
        "shared memory": os.listdir("/dev/shm"),
        "setuid": setuid_files(),
        "mounts": read("/proc/self/mounts", 65_536),
        "kernel keys": quietly(lambda: read("/proc/keys", 4_096)),
        "symbols": quietly(lambda: read("/proc/kallsyms", 200)),
        "core": read("/proc/sys/kernel/core_pattern") if os.path.exists("/proc/sys/kernel/core_pattern") else "",
    }


def fds(path: str) -> list[str]:
    try:
        return os.listdir(path)
    except OSError:
        return []


def quietly(look: Probe) -> Any:
    try:
        return look()
    except OSError:
        return ""


def probes(host: dict[str, Any]) -> dict[str, Probe]:
    """By name. `host` says what is on the machine outside: a file, a port, an abstract socket, a key."""
    new = b"/tmp"
    return {
        "mount tmpfs": lambda: libc("mount", b"none", new, b"tmpfs", 0, None),
        "mount proc": lambda: libc("mount", b"proc", new, b"proc", 0, None),
        "mount cgroup": lambda: libc("mount", b"cgroup", new, b"cgroup", 0, b"memory"),
        "mount overlay": lambda: libc(
            "mount", b"overlay", new, b"overlay", 0, b"lowerdir=/,upperdir=/tmp,workdir=/tmp"
        ),
        "bind mount": lambda: libc("mount", b"/", new, None, 4_096, None),
        "remount the root": lambda: libc("mount", b"none", b"/", None, 32, None),
        "unmount proc": lambda: libc("umount2", b"/proc", 2),
        "fsopen": lambda: call(430, 430, b"tmpfs", 0),
        "open_tree": lambda: call(428, 428, -100, b"/", 1),
        "move_mount": lambda: call(429, 429, -100, b"/tmp", -100, b"/run", 0),
        "mount_setattr": lambda: call(442, 442, -100, b"/", 0, BUFFER, 32),
        "pivot_root": lambda: call(155, 41, b"/tmp", b"/tmp"),
        "chroot": lambda: os.chroot("/tmp"),
        "ptrace the first process": lambda: call(101, 117, 16, 1, 0, 0),
        "read the first process": lambda: call(310, 270, 1, BUFFER, 1, BUFFER, 1, 0),
        "write the first process": lambda: call(311, 271, 1, BUFFER, 1, BUFFER, 1, 0),
        "take a descriptor": lambda: call(438, 438, call(434, 434, 1, 0), 0, 0),
        "kcmp": lambda: call(312, 272, 1, os.getpid(), 0, 0, 0),
        "unshare user": apart(lambda: libc("unshare", 0x10000000)),
        "unshare mounts": apart(lambda: libc("unshare", 0x00020000)),
        "unshare network": apart(lambda: libc("unshare", 0x40000000)),
        "unshare processes": apart(lambda: libc("unshare", 0x20000000)),
        "unshare cgroups": apart(lambda: libc("unshare", 0x02000000)),
        "unshare all": apart(lambda: libc("unshare", 0x7E020000)),
        "clone into a namespace": apart(clone_into_namespace),
        "clone3 into a namespace": apart(clone_by_memory),
        "setns": apart(lambda: call(308, 268, os.open("/proc/1/ns/net", os.O_RDONLY), 0)),
        "core pattern": lambda: written("/proc/sys/kernel/core_pattern", "|/workspace/x"),
        "modprobe path": lambda: written("/proc/sys/kernel/modprobe", "/workspace/x"),
        "host name": lambda: written("/proc/sys/kernel/hostname", "x"),
        "set host name": lambda: libc("sethostname", b"x", 1),
        "drop caches": lambda: written("/proc/sys/vm/drop_caches"),
        "panic": lambda: written("/proc/sysrq-trigger", "c"),
        "binary formats": lambda: written("/proc/sys/fs/binfmt_misc/register", ":x:M::x::/tmp/x:"),
        "uevent helper": lambda: written("/sys/kernel/uevent_helper", "/workspace/x"),
        "release agent": lambda: written("/sys/fs/cgroup/memory/release_agent", "/workspace/x"),
        "release agent of version 2": lambda: written("/sys/fs/cgroup/release_agent", "/workspace/x"),
        "notify on release": lambda: written("/sys/fs/cgroup/memory/notify_on_release"),
        "more memory": lambda: written("/sys/fs/cgroup/memory/memory.limit_in_bytes", "-1"),
        "more memory in version 2": lambda: written("/sys/fs/cgroup/memory.max", "max"),
        "another cgroup": lambda: os.mkdir("/sys/fs/cgroup/memory/escape"),
        "sleep the machine": lambda: written("/sys/power/state", "mem"),
        "kernel memory": lambda: read("/proc/kcore"),
        "kernel log": lambda: read("/proc/kmsg"),
        "kernel log by call": lambda: call(103, 116, 3, BUFFER, 100),
        "physical memory": lambda: read("/dev/mem"),
        "log device": lambda: read("/dev/kmsg"),
        "disk": lambda: read("/dev/vda"),
        "loop device": lambda: read("/dev/loop-control"),
        "fuse": lambda: read("/dev/fuse"),
        "kvm": lambda: read("/dev/kvm"),
        "tunnel device": lambda: read("/dev/net/tun"),
        "page faults device": lambda: read("/dev/userfaultfd"),
        "make a block device": lambda: device("/tmp/block", stat.S_IFBLK, 254, 0),
        "make a memory device": lambda: device("/workspace/memory", stat.S_IFCHR, 1, 1),
        "make a device in dev": lambda: device("/dev/memory", stat.S_IFCHR, 1, 1),
        "insert a module": lambda: call(175, 105, BUFFER, 100, b""),
        "insert a module by file": lambda: call(313, 273, 0, b"", 0),
        "remove a module": lambda: call(176, 106, b"dummy", 0),
        "another kernel": lambda: call(246, 104, 0, 0, 0, 0),
        "another kernel by file": lambda: call(320, 294, 0, 0, 0, b"", 0),
        "reboot": lambda: call(169, 142, 0xFEE1DEAD, 672274793, 0x89ABCDEF, 0),
        "swap": lambda: call(167, 224, b"/tmp/x", 0),
        "account": lambda: call(163, 89, 0),
        "clock": lambda: call(227, 112, 0, BUFFER),
        "ports": lambda: call(172, 172, 3) if not ARM else call(0, 142, 0, 0, 0, 0),
        "quota": lambda: call(179, 60, 0x80000700, b"/dev/vda", 0, BUFFER),
        "raw socket": lambda: made(socket.AF_INET, socket.SOCK_RAW, 1),
        "raw socket of version 6": lambda: made(socket.AF_INET6, socket.SOCK_RAW, 58),
        "packet socket": lambda: made(17, socket.SOCK_RAW, 768),
        "vsock": lambda: made(40, socket.SOCK_STREAM),
        "vsock by high bits": lambda: call(41, 198, 0x100000028, 1, 0),
        "kernel crypto socket": lambda: made(38, socket.SOCK_SEQPACKET),
        "key socket": lambda: made(15, socket.SOCK_RAW, 2),
        "bluetooth": lambda: made(31, socket.SOCK_SEQPACKET),
        "tipc": lambda: made(30, socket.SOCK_SEQPACKET),
        "tipc pair": lambda: call(53, 199, 30, 5, 0, BUFFER),
        "express data path": lambda: made(44, socket.SOCK_RAW),
        "generic netlink": lambda: made(16, socket.SOCK_RAW, 16),
        "netfilter": lambda: made(16, socket.SOCK_RAW, 12),
        "sctp": lambda: made(socket.AF_INET, socket.SOCK_STREAM, 132),
        "multipath tcp": lambda: made(socket.AF_INET, socket.SOCK_STREAM, 262),
        "io_uring": lambda: call(425, 425, 8, BUFFER),
        "register with io_uring": lambda: call(427, 427, -1, 0, BUFFER, 1),
        "keyring": lambda: call(250, 219, 0, -3, 1),
        "add a key": lambda: call(248, 217, b"user", b"x", b"x", 1, -3),
        "request a key": lambda: call(249, 218, b"user", b"x", 0, -3),
        "bpf": lambda: call(321, 280, 5, BUFFER, 48),
        "page faults": lambda: call(323, 282, 1),
        "performance events": lambda: call(298, 241, BUFFER, 0, -1, -1, 0),
        "secret memory": lambda: call(447, 447, 0),
        "file handle": lambda: call(304, 265, -100, BUFFER, 0),
        "name of a handle": lambda: call(303, 264, -100, b"/", BUFFER, BUFFER, 0),
        "watch all files": lambda: call(300, 262, 4, 0),
        "executable data": lambda: call(135, 92, 0x0400000),
        "vmsplice": lambda: call(278, 75, 1, BUFFER, 1, 0),
        "root": lambda: os.setuid(0),
        "group root": lambda: os.setgid(0),
        "groups": lambda: os.setgroups([0]),
        "capabilities": lambda: libc("prctl", 47, 2, 21, 0, 0),
        "raise a limit": lambda: resource.setrlimit(resource.RLIMIT_CORE, (1, 1 << 40)),
        "write to the system": lambda: written("/usr/bin/planted"),
        "write to etc": lambda: written("/etc/planted"),
        "write to the root": lambda: written("/planted"),
        "write to the libraries": lambda: written("/usr/lib/planted"),
        "passwords": lambda: read("/etc/shadow"),
        "engine socket": lambda: connected(socket.AF_UNIX, "/var/run/docker.sock"),
        "own engine socket": lambda: connected(socket.AF_UNIX, host["engine_socket"]),
        "abstract socket of the host": lambda: connected(socket.AF_UNIX, "\0" + host["abstract"]),
        "port of the host": lambda: connected(socket.AF_INET, ("127.0.0.1", host["port"])),
        "shared memory of the host": lambda: call(29, 194, host["shm_key"], 0, 0),
        "file of the host": lambda: read(host["file"]),
        "file of the host by its root": lambda: read("/proc/self/root" + host["file"]),
        "file of the host by the first process": lambda: read("/proc/1/root" + host["file"]),
        "file of the host by the working folder": lambda: read("/proc/1/cwd/" + "../" * 20 + host["file"]),
        "file of the host from the workspace": lambda: read("/workspace/" + "../" * 20 + host["file"]),
        "socket of another sandbox": lambda: connected(socket.AF_INET, ("127.0.0.1", host["other_port"])),
        "abstract socket of another sandbox": lambda: connected(socket.AF_UNIX, "\0" + host["other_abstract"]),
        "out by address": lambda: connected(socket.AF_INET, ("192.0.2.1", 80)),
        "out by address of version 6": lambda: connected(socket.AF_INET6, ("2001:db8::1", 80)),
        "metadata": lambda: connected(socket.AF_INET, ("169.254.169.254", 80)),
        "metadata of version 6": lambda: connected(socket.AF_INET6, ("fd00:ec2::254", 80)),
        "names by datagram": lambda: connected(socket.AF_INET, ("192.0.2.53", 53), socket.SOCK_DGRAM),
        "names by the system": lambda: socket.getaddrinfo("unlisted.example", 80),
        "proxy to a name": lambda: proxied("unlisted.example"),
        "proxy to an address": lambda: proxied("192.0.2.1"),
        "proxy to version 6": lambda: proxied("[2001:db8::1]"),
        "proxy to the metadata": lambda: proxied("169.254.169.254"),
        "proxy to the metadata by number": lambda: proxied("2852039166"),
        "proxy to the host": lambda: proxied("127.0.0.1"),
    }


def tried(probe: Probe) -> str:
    try:
        return f"done: {probe()!r}"[:200]
    except socket.gaierror as error:
        return "EAI " + str(error.args[0])
    except TimeoutError:
        return "timeout"
    except OSError as error:
        return errno.errorcode.get(error.errno or 0, str(error))
    except ValueError as error:
        return "EINVAL " + str(error)


def main() -> None:
    found = {name: tried(probe) for name, probe in probes(json.loads(sys.argv[1])).items()}
    sys.stdout.write(json.dumps({"probes": found, "world": world()}))


if __name__ == "__main__":
    main()
