"""A program behind a pseudo-terminal."""

from __future__ import annotations

import fcntl
import os
import struct
import termios

from sandbox.inside.flow import Flow
from sandbox.inside.spawning import exit_code, spawn_on_terminal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sandbox.inside.link import Link
    from sandbox.inside.loop import Loop

SIGHUP = 1
DRAIN_SECONDS = 0.5


class Terminal(Flow):
    """One program; it is hung up with the exchange that began it."""

    def __init__(
        self,
        loop: Loop,
        link: Link,
        number: int,
        *,
        argv: list[bytes],
        columns: int,
        rows: int,
        env: dict[bytes, bytes],
        cwd: bytes,
    ) -> None:
        ours, theirs = os.openpty()
        try:
            name = os.ttyname(theirs).encode()
            _resize(ours, columns, rows)
            self._pid = spawn_on_terminal(argv, env, cwd, name)
        except BaseException:
            os.close(ours)
            raise
        finally:
            os.close(theirs)
        super().__init__(loop, link, number, ours)
        self._status: int | None = None
        loop.on_exit(self._pid, self._reap)

    def resize(self, columns: int, rows: int) -> None:
        if self.descriptor >= 0:
            _resize(self.descriptor, columns, rows)

    def drop(self) -> None:
        if self._status is None:
            try:
                os.killpg(self._pid, SIGHUP)
            except OSError:
                pass
        super().drop()

    def _break(self) -> None:
        """How a terminal ends: by an error, when the last program has let go of it."""
        self._said_all = self._heard_all = True
        self._inward.clear()
        self._go_on()

    def over(self) -> None:
        self._tell()

    def _reap(self, status: int) -> None:
        self._status = status
        if self.descriptor >= 0:
            # A program in the background may hold the terminal open; what was said so far is read.
            self._loop.after(DRAIN_SECONDS, self._finish)
        self._tell()

    def _finish(self) -> None:
        if self.descriptor >= 0 and self.credit <= 0:
            # There may be more that the host does not take yet.
            self._loop.after(DRAIN_SECONDS, self._finish)
        elif self.descriptor >= 0:
            self._break()

    def _tell(self) -> None:
        if self._status is not None and self.descriptor < 0 and self.number in self.link.channels:
            self.reply({"code": exit_code(self._status)})


def _resize(terminal: int, columns: int, rows: int) -> None:
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
