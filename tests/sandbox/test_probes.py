"""An attacker inside a sandbox, on every engine: each thing tried, and the answer it must get."""

import asyncio
import ctypes
import inspect
import json
import os
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from contracts.sandbox import Command, FileRefused, LeaseRequest
from sandbox.engine import engine_address
from sandbox.host import SandboxHost
from sandbox.session import OpenSandbox
from tests.sandbox import attacker

pytestmark = pytest.mark.asyncio(loop_scope="module")

SHM_KEY = 0x1A50_0001
OTHER_PORT, OTHER_SOCKET = 42_317, "other-sandbox"
MARK = "mark-of-the-other-sandbox"
OTHER = f"""
import socket, time
open('/workspace/{MARK}', 'w').write('x')
ends = [socket.socket(socket.AF_UNIX), socket.socket()]
ends[0].bind('\\0{OTHER_SOCKET}')
ends[1].bind(('127.0.0.1', {OTHER_PORT}))
for end in ends: end.listen()
print('ready', flush=True)
time.sleep(600)
"""

REFUSED = {"EPERM", "EACCES", "EROFS", "ENOENT"}
ABSENT = {"ENOSYS", "EAFNOSUPPORT", "EPROTONOSUPPORT", "ENODEV", "ENXIO", "ENOTSUP", "EBADFD", "EINVAL", "EISDIR"}
NOWHERE = {"ENETUNREACH", "EHOSTUNREACH", "EADDRNOTAVAIL", "ECONNREFUSED"}

OTHERWISE = {
    "clone3 into a namespace": {"ENOSYS"},
    "root": {"EINVAL"},
    "group root": {"EINVAL"},
    "raise a limit": {"EINVAL not allowed to raise maximum limit"},
    "kernel log": {"done: ''"},
    "names by the system": {"EAI -2", "EAI -3"},
    "abstract socket of the host": NOWHERE,
    "port of the host": NOWHERE,
    "socket of another sandbox": NOWHERE,
    "abstract socket of another sandbox": NOWHERE,
    "out by address": NOWHERE,
    "out by address of version 6": NOWHERE,
    "names by datagram": NOWHERE,
    "metadata": NOWHERE,
    "metadata of version 6": NOWHERE,
}
"""Beside REFUSED: what a kernel says where there is nobody, no such number, or nothing behind the name."""

OWN_KERNEL = {
    "unshare user",
    "unshare cgroups",
    "unshare all",
    "clone into a namespace",
    "clone3 into a namespace",
    "kernel log by call",
    "keyring",
}
"""What gVisor grants, since it is its own kernel's and not the machine's: nothing of the machine is behind it."""


@pytest.fixture(scope="module")
def outside(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """What lies about on the machine, within reach of every program that is not shut in."""
    file = tmp_path_factory.mktemp("outside") / "secret"
    file.write_text("secret", encoding="utf-8")
    for folder in (file, *file.parents[:3]):
        folder.chmod(0o777)
    with ExitStack() as stack:
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        patch.setenv("CANARY", "x")
        abstract, port = (stack.enter_context(socket.socket(family)) for family in (socket.AF_UNIX, socket.AF_INET))
        abstract.bind(f"\0outside-{os.getpid()}")
        port.bind(("127.0.0.1", 0))
        abstract.listen()
        port.listen()
        libc = ctypes.CDLL(None)
        segment = libc.shmget(SHM_KEY, 4_096, 0o1666)
        stack.callback(libc.shmctl, segment, 0, None)
        yield {
            "shm_key": SHM_KEY,
            "engine_socket": engine_address("").removeprefix("unix://"),
            "abstract": f"outside-{os.getpid()}",
            "port": port.getsockname()[1],
            "file": str(file),
            "other_port": OTHER_PORT,
            "other_abstract": OTHER_SOCKET,
        }


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def other(host: SandboxHost) -> AsyncIterator[OpenSandbox]:
    """A second sandbox of the same host, with a file, a process and sockets of its own."""
    opened = await host.open(await host.lease(LeaseRequest(task_id="other", user_id="u")))
    told = asyncio.Event()
    running = asyncio.create_task(
        opened.run(Command(argv=("python3", "-c", OTHER)), lambda seen: told.set() if seen else None)
    )
    async with asyncio.timeout(60):
        await told.wait()
    yield opened
    running.cancel()
    await asyncio.wait([running])
    await host.release(opened.lease)


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def found(outside: dict[str, Any], other: OpenSandbox, box: OpenSandbox) -> dict[str, Any]:
    """All of it in one command."""
    command = Command(argv=("python3", "-c", inspect.getsource(attacker), json.dumps(outside)))
    outcome = await box.run(command)
    assert outcome.exit_code == 0, outcome.stderr.head
    stdout = outcome.stdout
    text = await box.files.read(stdout.path, max_bytes=1 << 20) if stdout.path else stdout.head + stdout.tail
    answers: dict[str, Any] = json.loads(text)
    return answers


@pytest.mark.parametrize("probe", attacker.probes(dict.fromkeys(("shm_key", "file", "abstract"), "/")))
async def test_it_gets_nowhere_by(box: OpenSandbox, found: dict[str, Any], probe: str) -> None:
    answer = found["probes"][probe]

    expected = REFUSED | OTHERWISE.get(probe, set())
    if box.lease.runtime == "runsc":
        if probe in OWN_KERNEL and answer.startswith("done"):
            return
        if probe not in OTHERWISE:
            expected |= ABSENT
    assert answer in expected


async def test_it_has_no_privilege_and_cannot_get_one(box: OpenSandbox, found: dict[str, Any]) -> None:
    status = found["world"]["status"]

    assert {status[name] for name in ("CapPrm", "CapEff", "CapBnd")} == {"0" * 16}
    assert status["Uid"].split() == ["1000"] * 4
    assert found["world"]["setuid"] == []
    if box.lease.runtime != "runsc":
        assert (status["NoNewPrivs"], status["Seccomp"], status["CapAmb"]) == ("1", "2", "0" * 16)


async def test_it_sees_nothing_of_the_machine(found: dict[str, Any]) -> None:
    world = found["world"]

    assert world["secrets"] == []
    assert world["interfaces"] == ["lo"]
    assert world["shared memory"] == []
    assert world["kernel keys"] == ""
    assert not [line for line in world["unix"].splitlines() if "/" in line or "outside" in line]
    assert not [
        name for name in world["descriptors"] if not name.startswith(("/dev/null", "pipe:", "socket:", "host:"))
    ]
    assert set(world["devices"]) <= HARMLESS
    assert {line.split()[0] for line in world["symbols"].splitlines()[:-1]} <= {"0" * 16}


HARMLESS = {
    *("core", "fd", "full", "fuse", "mqueue", "net", "null", "ptmx", "pts", "random", "shm"),
    *("stderr", "stdin", "stdout", "tty", "urandom", "zero"),
}
"""fuse and net are gVisor's own; `core` is a link to /proc/kcore, which is refused."""


async def test_it_sees_nothing_of_another_sandbox(box: OpenSandbox, other: OpenSandbox, found: dict[str, Any]) -> None:
    there = await other.run(Command(script=f"ls /workspace/{MARK}"))
    here = await box.run(Command(script=f"find / -name '{MARK}' 2>/dev/null"))

    assert (there.exit_code, here.stdout.head) == (0, b"")
    assert not [line for line in found["world"]["commands"] if "import socket, time" in line]
    assert OTHER_SOCKET not in found["world"]["unix"]


async def test_a_link_leads_no_file_out(box: OpenSandbox, outside: dict[str, Any]) -> None:
    file = Path(outside["file"])
    await box.run(
        Command(script=f"ln -s {file.parent} way; ln -s {file} file; ln -s /proc/1/root round; ln -s /etc etc")
    )

    for path in (
        "way/secret",
        "file",
        f"round{file}",
        f"../../../..{file}",
        str(file),
        "etc/passwd",
        "round/etc/passwd",
    ):
        with pytest.raises(FileRefused):
            await box.files.read(path, max_bytes=100)
    for path in ("etc/planted", "round/etc/planted", "/etc/planted", "/proc/self/environ"):
        with pytest.raises(FileRefused):
            await box.files.write(path, b"x")
    # The same name below /tmp is a file of the sandbox's own.
    for path in ("way/planted", str(file.parent / "planted")):
        with suppress(FileRefused):
            await box.files.write(path, b"x")
    assert [path.name for path in file.parent.iterdir()] == ["secret"]


async def test_what_was_to_act_after_its_command_was_ended_does_not(box: OpenSandbox) -> None:
    later = "sh -c 'sleep 1.5; touch boom' >/dev/null 2>&1 &"
    bomb = f"(setsid nohup {later}); setsid {later} sleep 60"
    ended = await box.run(Command(script=bomb, timeout_seconds=0.5))

    after = await box.run(Command(script="sleep 2; ls boom"))

    assert ended.timed_out
    assert after.exit_code != 0
