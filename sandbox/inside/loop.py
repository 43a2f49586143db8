"""One thread that waits for descriptors and moments. asyncio would do, but its import takes 22 ms, 95 under gVisor."""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # what `signal` wraps into enums, which takes 18 ms under gVisor
import os
import select
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SIGCHLD = 17
READ, WRITE = select.EPOLLIN, select.EPOLLOUT
ENDED = select.EPOLLHUP | select.EPOLLERR
LONGEST_WAIT = 60.0


class Timer:
    """A moment at which something is done; `cancel` takes it back."""

    def __init__(self, when: float, act: Callable[[], None]) -> None:
        self.when = when
        self.act: Callable[[], None] | None = act

    def cancel(self) -> None:
        self.act = None


class Loop:
    """Calls back; nothing that is called may block."""

    def __init__(self) -> None:
        self._poll = select.epoll()
        self._watched: dict[int, Callable[[int], None]] = {}
        self._timers: list[Timer] = []
        self._background: list[Iterator[None]] = []
        self._children, bell = os.pipe()
        for descriptor in (self._children, bell):
            os.set_blocking(descriptor, False)
        self._exits: dict[int, Callable[[int], None]] = {}
        self.watch(self._children, READ, self._bury)
        _signal.signal(SIGCHLD, lambda _number, _frame: None)
        _signal.set_wakeup_fd(bell, warn_on_full_buffer=False)

    def on_exit(self, pid: int, act: Callable[[int], None]) -> None:
        """Call it with the status when that child has ended."""
        self._exits[pid] = act

    def watch(self, descriptor: int, events: int, act: Callable[[int], None]) -> None:
        """Watch it, or watch it for something else."""
        if descriptor in self._watched:
            self._poll.modify(descriptor, events)
        else:
            self._poll.register(descriptor, events)
        self._watched[descriptor] = act

    def unwatch(self, descriptor: int) -> None:
        if self._watched.pop(descriptor, None) is not None:
            self._poll.unregister(descriptor)

    def after(self, seconds: float, act: Callable[[], None]) -> Timer:
        timer = Timer(time.monotonic() + seconds, act)
        self._timers.append(timer)
        return timer

    def in_background(self, steps: Iterator[None]) -> None:
        """Take one step of it after another, between other things."""
        self._background.append(steps)

    def run(self) -> None:
        while True:
            for descriptor, events in self._poll.poll(self._patience()):
                act = self._watched.get(descriptor)
                if act is not None:
                    act(events)
            self._ring_timers()
            self._background = [steps for steps in self._background if _goes_on(steps)]

    def _patience(self) -> float:
        if self._background:
            return 0
        self._timers = [timer for timer in self._timers if timer.act is not None]
        if not self._timers:
            return LONGEST_WAIT
        return min(LONGEST_WAIT, max(0.0, min(timer.when for timer in self._timers) - time.monotonic()))

    def _ring_timers(self) -> None:
        if not self._timers:
            return
        now = time.monotonic()
        for timer in [one for one in self._timers if one.when <= now]:
            act, timer.act = timer.act, None
            if act is not None:
                act()

    def _bury(self, _events: int) -> None:
        """Take what has ended; the first process of a sandbox is given the orphans too."""
        try:
            os.read(self._children, 4_096)
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if not pid:
                    return
                act = self._exits.pop(pid, None)
                if act is not None:
                    act(status)
        except (BlockingIOError, ChildProcessError):
            return


def _goes_on(steps: Iterator[None]) -> bool:
    try:
        next(steps)
    except StopIteration:
        return False
    return True
