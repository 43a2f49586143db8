"""Gives a program a terminal of its own, for somebody who speaks through pipes.

sshd could do that too, but wants to give the terminal to the group `tty`, which not every engine lets it do. Standard
input holds frames (kind, length, content): `d` is typed, `s` a new size. It runs under whatever Python the sandbox
has, so it keeps to old syntax and the standard library.
"""

import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios
from contextlib import suppress

HEADER = struct.Struct(">cI")
PIECE = 65536
LAST_PIECES = 64
HUNG_UP = 129


class Relay:
    """Between the pipes and the terminal; neither direction waits for the other."""

    def __init__(self, terminal: int, signals: int) -> None:
        self._terminal = terminal
        self._signals = signals
        self._frames = b""
        self._typed = b""
        self._shown = b""

    def run(self) -> bool:
        """Until the program has ended and what it wrote is passed on; False if whoever typed is gone before that."""
        while True:
            reads = [self._signals] + ([] if self._typed else [0]) + ([] if self._shown else [self._terminal])
            writes = ([self._terminal] if self._typed else []) + ([1] if self._shown else [])
            readable, writable, _ = select.select(reads, writes, [])
            if self._signals in readable:
                over = os.read(self._signals, 1)[0] == signal.SIGCHLD
                if over:
                    self._finish()
                return over
            if 1 in writable:
                self._shown = self._shown[os.write(1, self._shown) :]
            elif self._terminal in readable:
                self._shown = self._read()
            if self._terminal in writable:
                self._type()
            if 0 in readable and not self._take():
                return False

    def _finish(self) -> None:
        """Children that it left at the terminal may go on writing, so that there is an end to what is passed on."""
        os.set_blocking(1, True)
        for _ in range(LAST_PIECES):
            while self._shown:
                self._shown = self._shown[os.write(1, self._shown) :]
            self._shown = self._read()
            if not self._shown:
                break

    def _read(self) -> bytes:
        """Nothing if there is nothing now, or if the program has let go of its terminal."""
        try:
            return os.read(self._terminal, PIECE)
        except OSError:
            return b""

    def _type(self) -> None:
        try:
            self._typed = self._typed[os.write(self._terminal, self._typed) :]
        except OSError:
            self._typed = b""

    def _take(self) -> bool:
        got = os.read(0, PIECE)
        self._frames += got
        while len(self._frames) >= HEADER.size:
            kind, length = HEADER.unpack(self._frames[: HEADER.size])
            end = HEADER.size + length
            if len(self._frames) < end:
                break
            content, self._frames = self._frames[HEADER.size : end], self._frames[end:]
            if kind == b"s":
                fcntl.ioctl(self._terminal, termios.TIOCSWINSZ, content)
            else:
                self._typed += content
        return bool(got)


def hang_up(pid: int, terminal: int) -> None:
    """What the kernel does when a terminal goes; not every engine's kernel does."""
    groups = [pid]
    with suppress(OSError):
        groups.append(os.tcgetpgrp(terminal))
    for group in groups:
        with suppress(OSError):
            os.killpg(group, signal.SIGHUP)
            os.killpg(group, signal.SIGCONT)


def status_of(pid: int) -> int:
    _, status = os.waitpid(pid, 0)
    return os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status)


def become(argv: "list[str]", size: bytes) -> None:
    """Never returns."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    fcntl.ioctl(0, termios.TIOCSWINSZ, size)
    try:
        os.execvp(argv[0], argv)  # noqa: S606  the sandbox is where programs may be started
    except OSError as error:
        os.write(2, f"{argv[0]}: {error.strerror}\n".encode())
    os._exit(127)


def main() -> None:
    size, argv = struct.pack("4H", int(sys.argv[2]), int(sys.argv[1]), 0, 0), sys.argv[3:]
    signals, tell = os.pipe()
    os.set_blocking(tell, False)
    for number in (signal.SIGCHLD, signal.SIGHUP):
        signal.signal(number, lambda number, frame: None)
    signal.set_wakeup_fd(tell)
    pid, terminal = pty.fork()
    if pid == 0:
        become(argv, size)
    os.set_blocking(terminal, False)
    os.set_blocking(1, False)
    if Relay(terminal, signals).run():
        sys.exit(status_of(pid))
    hang_up(pid, terminal)
    sys.exit(HUNG_UP)


if __name__ == "__main__":
    main()
