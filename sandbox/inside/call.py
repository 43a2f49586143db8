"""One command that runs: its output kept by this very process, its time-out, its end."""

from __future__ import annotations

import os
import time

from sandbox.inside.capture import Capture, pump
from sandbox.inside.ending import ending
from sandbox.inside.loop import READ
from sandbox.inside.records import CALLS, STREAMS, write_all
from sandbox.inside.slaying import born, slay
from sandbox.inside.spawning import NotStarted, SlotsTaken, spawn

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from sandbox.inside.asked import Asked
    from sandbox.inside.loop import Loop, Timer
    from sandbox.inside.words import Plain

INLINE_BYTES = 65_536
"""Longer scripts go by a file: the kernel takes 128 KiB in one argument."""
DRAIN_SECONDS = 0.5
"""How long output is awaited after the end; a background process may hold it open for ever."""
TICK_SECONDS = 1.0
SHELL = b"/bin/bash"


class Call:
    """One command. `on_end` gets its end, and every second `on_progress` the number of bytes so far."""

    def __init__(self, loop: Loop, asked: Asked, on_end: Callable[[Call], None]) -> None:
        self.asked = asked
        self.pid = 0
        self.meta: dict[str, Plain] = {}
        """How it ended; empty as long as it has not."""
        self.shown = b""
        """The beginning and end of both streams, one after the other."""
        self.on_progress: list[Callable[[int], None]] = []
        self._loop = loop
        self._on_end = on_end
        self._began = time.monotonic()
        self._since = 1 << 62
        self._captures = [Capture(f"{CALLS}/{asked.key}.{stream}", asked.output_bytes) for stream in STREAMS]
        self._open = 0
        self._seconds = 0.0
        self._status: int | None = None
        self._timed_out = False
        self._limit: str | None = None
        self._timer: Timer | None = None

    def start(self) -> None:
        """Raises: NotStarted, SlotsTaken."""
        given, reading, writing = self._given(), [], []
        try:
            for _ in STREAMS:
                ours, theirs = os.pipe()
                os.set_blocking(ours, False)
                reading.append(ours)
                writing.append(theirs)
            env = {**self.asked.env, b"ASOS_CALL": self.asked.key.encode()}
            self.pid = spawn(self._argv(), env, self.asked.cwd, (given, *writing))
        except BaseException:
            for descriptor in reading:
                os.close(descriptor)
            raise
        finally:
            for descriptor in (given, *writing):
                os.close(descriptor)
        self._since = born(self.pid)
        for descriptor, capture in zip(reading, self._captures):
            self._listen(descriptor, capture)
        self.end_after(self.asked.timeout)
        self._loop.after(TICK_SECONDS, self._tick)

    def end_after(self, seconds: float) -> None:
        """End it so long after its start, unless it is to end sooner already."""
        when = self._began + seconds
        if self._status is None and (self._timer is None or when < self._timer.when):
            if self._timer is not None:
                self._timer.cancel()
            self._timer = self._loop.after(max(0.0, when - time.monotonic()), self._time_is_out)

    def kill(self) -> bool:
        """End all its processes; False if some would not die."""
        return slay(self.asked.key, self.pid, self._since)

    def reap(self, status: int) -> None:
        """Its first process has ended."""
        self._status, self._seconds = status, time.monotonic() - self._began
        if self._timer is not None:
            self._timer.cancel()
        if self._open:
            self._loop.after(DRAIN_SECONDS, self._finish)
        else:
            self._finish()

    def refuse(self, error: NotStarted) -> None:
        """It could not be started: say so as a shell would."""
        self._captures[1].add(error.text + b"\n")
        self._limit = "processes" if isinstance(error, SlotsTaken) else None
        self._status = error.code << 8
        self._finish()

    def _given(self) -> int:
        """Its standard input, like a file."""
        if not self.asked.stdin:
            return os.open(os.devnull, os.O_RDONLY)
        given = os.memfd_create("stdin")
        write_all(given, self.asked.stdin)
        os.lseek(given, 0, os.SEEK_SET)
        self.asked.stdin = b""
        return given

    def _argv(self) -> list[bytes]:
        if self.asked.argv is not None:
            return self.asked.argv
        shell = SHELL if os.path.exists(SHELL) else b"bash"
        if len(self.asked.script) <= INLINE_BYTES:
            return [shell, b"-c", self.asked.script]
        os.makedirs(CALLS, 0o700, exist_ok=True)
        file = os.open(self._script, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
        try:
            write_all(file, self.asked.script)
        finally:
            os.close(file)
        return [shell, self._script.encode()]

    @property
    def _script(self) -> str:
        return f"{CALLS}/{self.asked.key}.script"

    def _listen(self, descriptor: int, capture: Capture) -> None:
        self._open += 1

        def hear(_events: int) -> None:
            if pump(descriptor, capture.add):
                self._loop.unwatch(descriptor)
                os.close(descriptor)
                capture.close()
                self._open -= 1
                if not self._open and self._status is not None:
                    self._finish()

        self._loop.watch(descriptor, READ, hear)

    def _tick(self) -> None:
        if self.meta:
            return
        total = 0
        for capture in self._captures:
            total += capture.total
            if capture.total:
                capture.spool()
        for tell in self.on_progress:
            tell(total)
        self._loop.after(TICK_SECONDS, self._tick)

    def _time_is_out(self) -> None:
        if self._status is None:
            self._timed_out = True
            self.kill()

    def _finish(self) -> None:
        if self.meta or self._status is None:
            return
        if len(self.asked.script) > INLINE_BYTES:
            _remove(self._script)
        self.meta, self.shown = ending(self._status, self._captures, self._seconds, self._timed_out, self._limit)
        self._on_end(self)


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        pass
