"""Ports for what a test starts: each is one test's alone, in all processes, until the process that took it ends."""

import random
import socket

OUTSIDE_EPHEMERAL = (12_000, 32_000)
"""Linux gives outgoing connections ports from 32768 on, so that nobody gets one of these by chance."""

_CLAIMS: list[socket.socket] = []
"""Held open as long as this process runs; the system lets go of them with it, however it ends."""


def free_port(neighbours: int = 0) -> int:
    """A loopback port that nobody has, with as many free ones after it.

    It stays the caller's until this process ends: what is started binds it only some time after it was looked up, and
    what another test was given meanwhile must not be the same.
    """
    while True:
        # Of the system's chance: a test library may have seeded the other one alike in every process.
        port = random.SystemRandom().randrange(*OUTSIDE_EPHEMERAL)
        wanted = range(port, port + neighbours + 1)
        if all(map(_is_free, wanted)) and _claimed(wanted):
            return port


def free_ports(count: int) -> list[int]:
    """So many of them, not side by side."""
    return [free_port() for _ in range(count)]


def _claimed(ports: range) -> bool:
    """Whether no other test has any of the ports; then they are this process's. Names, so that nothing is bound."""
    claims: list[socket.socket] = []
    for port in ports:
        claim = socket.socket(socket.AF_UNIX)
        claims.append(claim)
        try:
            claim.bind(f"\0asos-test-port-{port}")
        except OSError:
            for each in claims:
                each.close()
            return False
    _CLAIMS.extend(claims)
    return True


def _is_free(port: int) -> bool:
    with socket.socket() as chosen:
        try:
            chosen.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True
