"""What a sandbox cannot do, on every engine."""

import pytest

from contracts.sandbox import Command
from sandbox.session import OpenSandbox

pytestmark = pytest.mark.asyncio(loop_scope="module")

PROBES = {
    "raw vsock": "import socket; socket.socket(40, socket.SOCK_STREAM)",
    "vsock by high bits": "import ctypes; libc = ctypes.CDLL(None, use_errno=True); "
    "libc.syscall.restype = ctypes.c_long; "
    "assert libc.syscall(ctypes.c_long(41), ctypes.c_ulong(0x100000028), 1, 0) >= 0",
    "io_uring": "import ctypes; buf = ctypes.create_string_buffer(512); "
    "assert ctypes.CDLL(None).syscall(425, 8, buf) >= 0",
    "new user namespace": "import ctypes; assert ctypes.CDLL(None).unshare(0x10000000) == 0",
    "mount": "import ctypes; assert ctypes.CDLL(None).mount(b'none', b'/tmp', b'tmpfs', 0, None) == 0",
    "write to the system": "open('/usr/bin/planted', 'w')",
    "write to etc": "open('/etc/planted', 'w')",
    "write to the root": "open('/planted', 'w')",
    "a host's secret": "open('/etc/shadow').read()",
    "a raw socket": "import socket; socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)",
    "a device": "import os; os.mknod('/tmp/disk', 0o60600, os.makedev(8, 0)); open('/tmp/disk', 'rb').read(1)",
    "another user": "import os; os.setuid(0)",
    "the network": "import socket; socket.create_connection(('192.0.2.1', 80), 3)",
}  # fmt: skip


@pytest.mark.parametrize("probe", PROBES)
async def test_it_cannot(box: OpenSandbox, probe: str) -> None:
    if box.lease.runtime == "runsc" and probe == "new user namespace":
        pytest.skip("gVisor answers with a kernel of its own: a namespace there opens nothing of the machine's")

    outcome = await box.run(Command(argv=("python3", "-c", PROBES[probe])))

    assert outcome.exit_code == 1, outcome
    assert b"Error" in outcome.stderr.head
    assert b"SyntaxError" not in outcome.stderr.head
