"""Programs that a person speaks with: at a pseudo-terminal, or behind plain pipes."""

from __future__ import annotations

import fcntl
import os
import struct
import termios

from sandbox.inside.loop import WRITE
from sandbox.inside.output import Output
from sandbox.inside.spawning import NotStarted, spawn, spawn_on_terminal
from sandbox.inside.wire import END, PIECE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sandbox.inside.link import Link
    from sandbox.inside.loop import Loop

SIGHUP, SIGCONT = 1, 18
SIGNALLED = 128
"""A shell's way to say which signal ended a program: this and the signal's number."""
DRAIN_SECONDS = 0.5
LONGEST_COMPLAINT = 1_000
"""More than this at once might not fit into a terminal that nobody reads yet."""


class Program(Output):
    """One program with all it reads and writes, except errors behind pipes; it is ended with its exchange."""

    def __init__(
        self,
        loop: Loop,
        link: Link,
        number: int,
        *,
        argv: list[bytes],
        size: tuple[int, int] | None,
        errors: int,
        env: dict[bytes, bytes],
        cwd: bytes,
    ) -> None:
        """Without a size there is no terminal, and `errors` is the number of the exchange for standard error.

        Raises: OSError, KeyError."""
        apart = None if size else link.channels[errors]
        ours: list[int] = []
        theirs: list[int] = []
        try:
            if size:
                _open_terminal(*size, ours, theirs)
            else:
                _open_pipes(ours, theirs)
            self._pid, status = _started(argv, env, cwd, theirs)
        except BaseException:
            _close(ours)
            raise
        finally:
            _close(theirs)
        super().__init__(loop, link, number)
        self._at_terminal = size is not None
        self._errors = apart if isinstance(apart, Output) else None
        self._status: int | None = None
        self._inward = bytearray()
        self._heard_all = False
        self._writing = ours[1]
        os.set_blocking(self._writing, False)
        self.begin(ours[0])
        if self._errors is not None:
            self._errors.begin(ours[2])
        if status is None:
            loop.on_exit(self._pid, self._reap)
        else:
            self._reap(status)

    def resize(self, columns: int, rows: int) -> None:
        if self._at_terminal and self._reading >= 0:
            _resize(self._reading, columns, rows)

    def take(self, data: bytes) -> None:
        self._inward += data
        self._push()

    def end(self) -> None:
        """At a terminal this means nothing: a person types Ctrl-D."""
        self._heard_all = True
        self._push()

    def drop(self) -> None:
        self._hang_up()
        self._take_no_more()
        super().drop()

    def over(self) -> None:
        self.link.send(END, self.number)
        self._tell()

    def _push(self) -> None:
        """What a program does not take any more is thrown away: its output may still come."""
        try:
            while self._inward and self._writing >= 0:
                sent = os.write(self._writing, self._inward[:PIECE])
                del self._inward[:sent]
                self.took(sent)
        except BlockingIOError:
            return self._loop.watch(self._writing, WRITE, lambda _events: self._push())
        except OSError:
            self._take_no_more()
        if self._writing < 0:
            self.took(len(self._inward))
            self._inward.clear()
        elif self._heard_all:
            self._take_no_more()
        else:
            self._loop.unwatch(self._writing)
        return None

    def _take_no_more(self) -> None:
        if self._writing >= 0:
            self._loop.unwatch(self._writing)
            os.close(self._writing)
            self._writing = -1

    def _reap(self, status: int) -> None:
        self._status = status
        self._loop.after(DRAIN_SECONDS, self._hurry)
        self._tell()

    def _hurry(self) -> None:
        for output in (self, self._errors):
            if output is not None:
                output.hurry()

    def _tell(self) -> None:
        if self._status is not None and self._reading < 0 and self.link.channels.get(self.number) is self:
            self._take_no_more()
            self.reply({"code": _code(self._status)})

    def _hang_up(self) -> None:
        """What the kernel does when a terminal goes; not every engine's kernel does, and pipes have none."""
        if self._status is not None:
            return
        groups = [self._pid]
        if self._at_terminal and self._reading >= 0:
            try:
                groups.append(os.tcgetpgrp(self._reading))
            except OSError:
                pass
        for group in groups:
            _signal(group, SIGHUP)
            _signal(group, SIGCONT)


def _started(argv: list[bytes], env: dict[bytes, bytes], cwd: bytes, theirs: list[int]) -> tuple[int, int | None]:
    """Its process, and how it ended if there is none."""
    try:
        if len(theirs) == 1:
            return spawn_on_terminal(argv, env, cwd, os.ttyname(theirs[0]).encode()), None
        return spawn(argv, env, cwd, theirs), None
    except NotStarted as error:
        # The person sees it where a shell would say it.
        os.write(theirs[-1], error.text[-LONGEST_COMPLAINT:] + b"\n")
        return 0, error.code << 8


def _open_terminal(columns: int, rows: int, ours: list[int], theirs: list[int]) -> None:
    """Ours: to read from and to write to. Theirs: the program's end."""
    for end, opened in zip((ours, theirs), os.openpty()):
        end.append(opened)
    ours.append(os.dup(ours[0]))
    _resize(ours[0], columns, rows)


def _open_pipes(ours: list[int], theirs: list[int]) -> None:
    """Ours: to read from, to write to, to read errors from. Theirs: the program's first three."""
    given, write = os.pipe()
    theirs.append(given)
    ours.append(write)
    for at in (0, 2):
        read, written = os.pipe()
        theirs.append(written)
        ours.insert(at, read)


def _resize(terminal: int, columns: int, rows: int) -> None:
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def _signal(group: int, number: int) -> None:
    try:
        if group > 1:
            os.killpg(group, number)
    except OSError:
        return


def _code(status: int) -> int:
    return SIGNALLED + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


def _close(descriptors: list[int]) -> None:
    for descriptor in descriptors:
        os.close(descriptor)
