"""Kept shells: folder, variables and functions stay from one script to the next, and a builtin costs no process."""

from __future__ import annotations

import os
import time

from sandbox.inside.capture import Capture, pump
from sandbox.inside.ending import ending
from sandbox.inside.link import Channel
from sandbox.inside.loop import READ
from sandbox.inside.records import CALLS, STREAMS, write_all
from sandbox.inside.slaying import born, slay
from sandbox.inside.spawning import spawn

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from sandbox.inside.asked import Asked
    from sandbox.inside.link import Link
    from sandbox.inside.loop import Loop, Timer
    from sandbox.inside.words import Plain

INLINE_BYTES = 512
"""Longer scripts go by a file: bash reads a pipe byte by byte."""
PROGRAM = rb"""while IFS= read -r -d '' -u 3 asos_script; do
eval "$asos_script" 3<&- 4>&-
printf '%s\0' $? >&4
done"""


class Shell(Channel):
    """One shell, one script after another; it ends with the exchange that began it."""

    def __init__(self, loop: Loop, link: Link, number: int, asked: Asked) -> None:
        super().__init__(link, number)
        self._loop = loop
        self._asked = asked
        self._count = 0
        self._captures: list[Capture] = []
        self._tell: Callable[[dict[str, Plain], bytes], None] | None = None
        self._timer: Timer | None = None
        self._timed_out = False
        self._status: int | None = None
        self._began = 0.0
        self._answer = b""
        nothing = os.open(os.devnull, os.O_RDONLY)
        script, self._script = os.pipe()
        pipes = [os.pipe() for _ in range(3)]
        self._reading = [reading for reading, _ in pipes]
        writing = [writing for _, writing in pipes]
        env = {**asked.env, b"ASOS_CALL": asked.key.encode()}
        given = (nothing, writing[0], writing[1], script, writing[2])
        try:
            self._pid = spawn([b"/bin/bash", b"--norc", b"--noprofile", b"-c", PROGRAM], env, asked.cwd, given)
        except BaseException:
            for descriptor in (self._script, *self._reading):
                os.close(descriptor)
            raise
        finally:
            for descriptor in given:
                os.close(descriptor)
        self._since = born(self._pid)
        for descriptor in (self._script, *self._reading):
            os.set_blocking(descriptor, False)
        for descriptor in self._reading:
            loop.watch(descriptor, READ, lambda _events: self._hear())
        loop.on_exit(self._pid, self._reap)

    def run(self, script: bytes, timeout: float, tell: Callable[[dict[str, Plain], bytes], None]) -> None:
        """One script at a time: the host asks for the next when it has the end of this."""
        self._count += 1
        name = f"{CALLS}/{self._asked.key}.{self._count}"
        self._captures = [Capture(f"{name}.{stream}", self._asked.output_bytes) for stream in STREAMS]
        self._tell, self._began, self._answer = tell, time.monotonic(), b""
        if self._status is not None:
            return self._end(self._status)
        self._timer = self._loop.after(timeout, self._time_is_out)
        if len(script) > INLINE_BYTES:
            script = _in_a_file(f"{name}.script", script)
        os.write(self._script, script + b"\0")
        return None

    def drop(self) -> None:
        self._tell = None
        self._kill()
        for descriptor in (self._script, *self._reading):
            self._loop.unwatch(descriptor)
            os.close(descriptor)
        self._reading = []

    def _hear(self) -> None:
        if not self._reading:
            return
        out, err, answer = self._reading
        # The answer first: what was written before it is then in the pipes already.
        ended = pump(answer, self._take_answer)
        for descriptor, capture in zip((out, err), self._captures):
            ended = pump(descriptor, capture.add) or ended
        if ended:
            for descriptor in self._reading:
                self._loop.unwatch(descriptor)
        if self._answer.endswith(b"\0") and self._tell is not None:
            self._end(int(self._answer[:-1]) << 8)

    def _take_answer(self, piece: bytes) -> None:
        self._answer += piece

    def _reap(self, status: int) -> None:
        self._hear()
        self._status = status
        if self._tell is not None:
            self._end(status)

    def _time_is_out(self) -> None:
        if self._tell is not None:
            self._timed_out = True
            self._kill()

    def _kill(self) -> None:
        slay(self._asked.key, self._pid, self._since)

    def _end(self, status: int) -> None:
        tell, self._tell = self._tell, None
        if self._timer is not None:
            self._timer.cancel()
        seconds = time.monotonic() - self._began
        meta, shown = ending(status, self._captures, seconds, self._timed_out, None)
        for capture in self._captures:
            capture.close()
        if tell is not None:
            tell({**meta, "joined": False, "over": self._status is not None}, shown)


def _in_a_file(path: str, script: bytes) -> bytes:
    """Words that read the script from there and take it away."""
    os.makedirs(CALLS, 0o700, exist_ok=True)
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    try:
        write_all(file, script)
    finally:
        os.close(file)
    return f'asos_script=$(<{path}); rm -f {path}; eval "$asos_script"'.encode()
