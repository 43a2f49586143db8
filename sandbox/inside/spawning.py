"""Starts programs fast: no fork of this process, nothing of it inherited but the descriptors that are named."""

from __future__ import annotations

import errno
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Action = tuple[int, int, int] | tuple[int, int, bytes, int, int]

ALL_SIGNALS = [number for number in range(1, 65) if number not in (9, 19, 32, 33)]
"""What a program would find ignored otherwise, since the agent ignores it. The C library keeps two for itself."""
MESSAGES = {
    errno.ENOENT: (127, b"command not found"),
    errno.EACCES: (126, b"permission denied"),
    errno.E2BIG: (126, b"argument list too long"),
}
TAKEN = (errno.EAGAIN, errno.ENOMEM)
"""What the kernel says when every process slot is taken, or there is no memory for another."""


class NotStarted(Exception):
    """Raised when a program could not be started; with the exit code that a shell would give."""

    def __init__(self, code: int, text: bytes) -> None:
        super().__init__(text)
        self.code = code
        self.text = text


class SlotsTaken(NotStarted):
    """Raised when the sandbox cannot take another process now."""


def spawn(argv: Sequence[bytes], env: Mapping[bytes, bytes], cwd: bytes, descriptors: Sequence[int]) -> int:
    """Start it in a session of its own, with these as its first descriptors. Raises: NotStarted, SlotsTaken."""
    return _spawned(argv, env, cwd, [(os.POSIX_SPAWN_DUP2, given, wanted) for wanted, given in enumerate(descriptors)])


def spawn_on_terminal(argv: Sequence[bytes], env: Mapping[bytes, bytes], cwd: bytes, terminal: bytes) -> int:
    """Like `spawn`, with that terminal as its own. Raises: NotStarted, SlotsTaken."""
    # The first of a session to open a terminal gets it as its controlling one.
    opening = (os.POSIX_SPAWN_OPEN, 0, terminal, os.O_RDWR, 0)
    return _spawned(argv, env, cwd, [opening, (os.POSIX_SPAWN_DUP2, 0, 1), (os.POSIX_SPAWN_DUP2, 0, 2)])


def exit_code(status: int) -> int:
    """As a shell says it, after a signal too."""
    return 128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


def _spawned(argv: Sequence[bytes], env: Mapping[bytes, bytes], cwd: bytes, actions: Sequence[Action]) -> int:
    try:
        os.chdir(cwd)
    except OSError as error:
        raise NotStarted(127, b"no such folder: " + cwd) from error
    try:
        return _found_and_started(argv, env, actions)
    except OSError as error:
        number = error.errno or 0
        if number in TAKEN:
            raise SlotsTaken(126, b"the sandbox could not start another process") from error
        code, text = MESSAGES.get(number, (126, os.strerror(number).encode()))
        raise NotStarted(code, argv[0] + b": " + text) from error
    finally:
        os.chdir("/")


def _found_and_started(argv: Sequence[bytes], env: Mapping[bytes, bytes], actions: Sequence[Action]) -> int:
    program = _found(argv[0], env.get(b"PATH", os.defpath.encode()))
    try:
        return _start(program, argv, env, actions)
    except OSError as error:
        if error.errno != errno.ENOEXEC:
            raise
        return _start(b"/bin/sh", [b"sh", program, *argv[1:]], env, actions)


def _start(program: bytes, argv: Sequence[bytes], env: Mapping[bytes, bytes], actions: Sequence[Action]) -> int:
    return os.posix_spawn(
        program, list(argv), env, file_actions=actions, setsid=True, setsigmask=[], setsigdef=ALL_SIGNALS
    )


def _found(name: bytes, path: bytes) -> bytes:
    """Like a shell finds a program."""
    if b"/" in name:
        return name
    denied = False
    for folder in path.split(b":"):
        whole = (folder or b".") + b"/" + name
        if os.access(whole, os.X_OK) and not os.path.isdir(whole):
            return whole
        denied = denied or os.path.isfile(whole)
    raise OSError(errno.EACCES if denied else errno.ENOENT, "no such program")
