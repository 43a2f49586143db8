"""A program behind plain pipes, as fast as both ends take what is said."""

from __future__ import annotations

import os

from sandbox.inside.link import Channel
from sandbox.inside.loop import READ, WRITE
from sandbox.inside.spawning import exit_code, spawn
from sandbox.inside.wire import ERRORS, OUTPUT, PIECE, SPOKEN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sandbox.inside.link import Link
    from sandbox.inside.loop import Loop

SIGHUP = 1
DRAIN_SECONDS = 0.5
"""How long output is awaited after the end; a background process may hold it open for ever."""


class Program(Channel):
    """It is hung up with the exchange that began it. Stream and length go before each piece of what it writes."""

    def __init__(
        self, loop: Loop, link: Link, number: int, *, argv: list[bytes], env: dict[bytes, bytes], cwd: bytes
    ) -> None:
        pipes = [os.pipe() for _ in range(3)]
        theirs = (pipes[0][0], pipes[1][1], pipes[2][1])
        ours = (pipes[0][1], pipes[1][0], pipes[2][0])
        try:
            self._pid = spawn(argv, env, cwd, theirs)
        except BaseException:
            for descriptor in ours:
                os.close(descriptor)
            raise
        finally:
            for descriptor in theirs:
                os.close(descriptor)
        super().__init__(link, number)
        self._loop = loop
        self._input = ours[0]
        self._outputs = {ours[1]: OUTPUT, ours[2]: ERRORS}
        self._inward = bytearray()
        self._heard_all = False
        self._status: int | None = None
        for descriptor in ours:
            os.set_blocking(descriptor, False)
        loop.on_exit(self._pid, self._reap)

    def begin(self) -> None:
        self.more()

    def more(self) -> None:
        for descriptor in self._outputs:
            self._watch(descriptor)

    def take(self, data: bytes) -> None:
        self._inward += data
        self._push()

    def end(self) -> None:
        self._heard_all = True
        self._push()

    def drop(self) -> None:
        if self._status is None:
            try:
                os.killpg(self._pid, SIGHUP)
            except OSError:
                pass
        self._end_input()
        for descriptor in list(self._outputs):
            self._let_go(descriptor)

    def _watch(self, descriptor: int) -> None:
        if self.credit > SPOKEN.size:
            self._loop.watch(descriptor, READ, lambda _events: self._pull(descriptor))
        else:
            self._loop.unwatch(descriptor)

    def _pull(self, descriptor: int) -> None:
        try:
            piece = os.read(descriptor, min(PIECE - SPOKEN.size, self.credit - SPOKEN.size))
        except BlockingIOError:
            return
        except OSError:
            piece = b""
        if piece:
            self.give(SPOKEN.pack(self._outputs[descriptor], len(piece)) + piece)
            self.more()
        else:
            self._let_go(descriptor)
            self._tell()

    def _push(self) -> None:
        """A program that reads no more is nobody's error: what is sent to it is thrown away."""
        if self._input < 0:
            self.took(len(self._inward))
            self._inward.clear()
            return
        try:
            while self._inward:
                sent = os.write(self._input, self._inward[:PIECE])
                del self._inward[:sent]
                self.took(sent)
        except BlockingIOError:
            self._loop.watch(self._input, WRITE, lambda _events: self._push())
            return
        except OSError:
            self._end_input()
            self._push()
            return
        self._loop.unwatch(self._input)
        if self._heard_all:
            self._end_input()

    def _reap(self, status: int) -> None:
        self._status = status
        self._loop.after(DRAIN_SECONDS, self._finish)
        self._tell()

    def _finish(self) -> None:
        if self._outputs and self.credit <= SPOKEN.size:
            # There may be more that the host does not take yet.
            self._loop.after(DRAIN_SECONDS, self._finish)
            return
        for descriptor in list(self._outputs):
            self._let_go(descriptor)
        self._tell()

    def _tell(self) -> None:
        if self._status is not None and not self._outputs and self.number in self.link.channels:
            self._end_input()
            self.reply({"code": exit_code(self._status)})

    def _end_input(self) -> None:
        if self._input >= 0:
            self._loop.unwatch(self._input)
            os.close(self._input)
            self._input = -1

    def _let_go(self, descriptor: int) -> None:
        del self._outputs[descriptor]
        self._loop.unwatch(descriptor)
        os.close(descriptor)
