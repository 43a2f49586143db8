"""The system calls that a sandbox without an engine may not make, as the program that the kernel runs on each call.

Docker has its profile for this (drivers/seccomp.json); here the same doors are closed by their numbers.
"""

import errno
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

LOAD, JUMP, JUMP_EQUAL, JUMP_AT_LEAST, JUMP_BITS, RETURN = 0x20, 0x05, 0x15, 0x35, 0x45, 0x06
ALLOW = 0x7FFF0000
ERRNO = 0x00050000
NUMBER, ARCHITECTURE, FIRST_LOW, FIRST_HIGH, THIRD_LOW, THIRD_HIGH = 0, 4, 16, 20, 32, 36
"""Offsets in the kernel's seccomp_data."""

X32 = 0x40000000
NAMESPACE_FLAGS = 0x7E020000
UNIX, NETLINK = 1, 16
INTERNET = (2, 10)
TRANSPORTS = (0, 6, 17)
"""Any, TCP, UDP. Families and protocols are named, since every other one may load a module of the machine's kernel, and
AF_VSOCK is not the only one that leads elsewhere. Of netlink only the routes are left, its protocol 0."""

PERSONALITIES = (0x0, 0x8, 0x20000, 0x20008, 0xFFFFFFFF)
"""Plain Linux, as Docker has it; the last one asks which it is."""

CLONE3 = 435
NEWER = (*range(425, 434), 438, 440, 442, 443, 447, 450, 457, 458, 467, 470)
"""Same number everywhere: io_uring, mounts by descriptor, foreign descriptors and memory, quotas, secret memory, memory
nodes, lists of mounts and namespaces."""


@dataclass(frozen=True)
class Machine:
    """The numbers of one architecture."""

    audit: int
    clone: int
    socket: int
    socketpair: int
    personality: int
    closed: tuple[int, ...]


MACHINES = (
    Machine(
        audit=0xC000003E,  # x86-64
        clone=56,
        socket=41,
        socketpair=53,
        personality=135,
        closed=(
            *(
                101,
                103,
                134,
                139,
                154,
                153,
                155,
                159,
                161,
                163,
                164,
                165,
                166,
                167,
                168,
                169,
                170,
                171,
                172,
                173,
                174,
                175,
                176,
                177,
                178,
                179,
                180,
                212,
            ),
            *(227, 246, 248, 249, 250, 272, 278, 298, 300, 303, 304, 305, 308, 310, 311, 312, 313, 320, 321, 323),
        ),
    ),
    Machine(
        audit=0xC00000B7,  # 64-bit ARM
        clone=220,
        socket=198,
        socketpair=199,
        personality=92,
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
    for number, judged in (
        (machine.personality, _one_of(FIRST_LOW, PERSONALITIES)),
        (machine.socketpair, [*_small(FIRST_HIGH), *_one_of(FIRST_LOW, (UNIX,))]),
    ):
        yield from (_word(JUMP_EQUAL, number, 0, len(judged)), *judged)
    yield from (_word(JUMP_EQUAL, machine.socket, 1, 0), _word(RETURN, ALLOW))
    yield from _sockets()


def _sockets() -> Iterator[bytes]:
    """The end of the program: only `socket` comes here."""
    yield from (*_small(FIRST_HIGH), *_small(THIRD_HIGH), _word(LOAD, FIRST_LOW))
    yield from (_word(JUMP_EQUAL, UNIX, 0, 1), _word(RETURN, ALLOW))
    for families, protocols in ((INTERNET, TRANSPORTS), ((NETLINK,), (0,))):
        judged = _one_of(THIRD_LOW, protocols)
        for at, family in enumerate(families):
            others = len(families) - 1 - at
            yield _word(JUMP_EQUAL, family, others, 0 if others else len(judged))
        yield from judged
    yield _refuse(errno.EPERM)


def _small(high: int) -> list[bytes]:
    """The kernel looks at the lower half of such an argument alone, so the upper one must hide nothing."""
    return [_word(LOAD, high), _word(JUMP_EQUAL, 0, 1, 0), _refuse(errno.EPERM)]


def _one_of(argument: int, values: Sequence[int]) -> list[bytes]:
    """Allow these values and refuse every other."""
    words = [_word(LOAD, argument)]
    for value in values:
        words += [_word(JUMP_EQUAL, value, 0, 1), _word(RETURN, ALLOW)]
    return [*words, _refuse(errno.EPERM)]


def _refuse(number: int) -> bytes:
    return _word(RETURN, ERRNO | number)


def _word(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)
