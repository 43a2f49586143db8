"""The system calls that a sandbox without an engine may not make, as the program that the kernel runs on each call.

Docker has its profile for this (drivers/seccomp.json); here the same doors are closed by their numbers.
"""

import errno
import struct
from collections.abc import Iterator
from dataclasses import dataclass

LOAD, JUMP, JUMP_EQUAL, JUMP_AT_LEAST, JUMP_BITS, RETURN = 0x20, 0x05, 0x15, 0x35, 0x45, 0x06
ALLOW = 0x7FFF0000
ERRNO = 0x00050000
NUMBER, ARCHITECTURE, FIRST_LOW, FIRST_HIGH = 0, 4, 16, 20
"""Offsets in the kernel's seccomp_data."""

X32 = 0x40000000
NAMESPACE_FLAGS = 0x7E020000
FAMILIES = (1, 2, 10, 16)
"""unix, inet, inet6, netlink. Named alone, since AF_VSOCK is not the only one that leads elsewhere."""

CLONE3 = 435
NEWER = (*range(425, 434), 438, 440, 442, 443, 447, 457, 458, 467)
"""Same number everywhere: io_uring, mounts by descriptor, foreign descriptors and memory, quotas, secret memory."""


@dataclass(frozen=True)
class Machine:
    """The numbers of one architecture."""

    audit: int
    clone: int
    socket: int
    closed: tuple[int, ...]


MACHINES = (
    Machine(
        audit=0xC000003E,  # x86-64
        clone=56,
        socket=41,
        closed=(
            *(101, 103, 139, 153, 155, 159, 161, 163, 165, 166, 167, 168, 169, 170, 171, 172, 173, 175, 176, 179, 212),
            *(227, 246, 248, 249, 250, 272, 278, 298, 300, 303, 304, 305, 308, 310, 311, 312, 313, 320, 321, 323),
        ),
    ),
    Machine(
        audit=0xC00000B7,  # 64-bit ARM
        clone=220,
        socket=198,
        closed=(
            *(
                18,
                39,
                40,
                41,
                51,
                58,
                60,
                75,
                89,
                97,
                104,
                105,
                106,
                112,
                116,
                117,
                142,
                161,
                162,
                170,
                171,
                217,
                218,
                219,
            ),
            *(224, 225, 241, 262, 264, 265, 266, 268, 270, 271, 272, 273, 280, 282, 294),
        ),
    ),
)
"""closed: ptrace, syslog, mounts, chroot, swap, reboot, clocks, modules, kexec, keys, namespaces, perf, fanotify, file
handles, foreign memory, bpf, userfaultfd and their like."""


def seccomp_program() -> bytes:
    """For `bwrap --seccomp`: refused calls fail with EPERM, and so does every call of an unknown architecture."""
    words: list[bytes] = []
    for machine in MACHINES:
        body = list(_body(machine))
        words += [_word(LOAD, ARCHITECTURE), _word(JUMP_EQUAL, machine.audit, 1, 0), _word(JUMP, len(body)), *body]
    return b"".join([*words, _refuse(errno.EPERM)])


def _body(machine: Machine) -> Iterator[bytes]:
    yield _word(LOAD, NUMBER)
    yield from (_word(JUMP_AT_LEAST, X32, 0, 1), _refuse(errno.EPERM))
    for number in (*machine.closed, *NEWER):
        yield from (_word(JUMP_EQUAL, number, 0, 1), _refuse(errno.EPERM))
    # Its flags lie in memory and cannot be judged: libraries fall back to clone.
    yield from (_word(JUMP_EQUAL, CLONE3, 0, 1), _refuse(errno.ENOSYS))
    clone = [
        _word(LOAD, FIRST_LOW),
        _word(JUMP_BITS, NAMESPACE_FLAGS, 0, 1),
        _refuse(errno.EPERM),
        _word(RETURN, ALLOW),
    ]
    yield from (_word(JUMP_EQUAL, machine.clone, 0, len(clone)), *clone)
    yield from (_word(JUMP_EQUAL, machine.socket, 1, 0), _word(RETURN, ALLOW))
    yield from (_word(LOAD, FIRST_HIGH), _word(JUMP_EQUAL, 0, 1, 0), _refuse(errno.EPERM), _word(LOAD, FIRST_LOW))
    for family in FAMILIES:
        yield from (_word(JUMP_EQUAL, family, 0, 1), _word(RETURN, ALLOW))
    yield _refuse(errno.EPERM)


def _refuse(number: int) -> bytes:
    return _word(RETURN, ERRNO | number)


def _word(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)
