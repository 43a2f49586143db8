"""All calls of this sandbox: each key runs once, and whoever asks again waits for the same end."""

from __future__ import annotations

import errno
import os
import time

from sandbox.inside.call import Call
from sandbox.inside.capture import SHOWN
from sandbox.inside.records import CALLS, STREAMS, Record, read_some
from sandbox.inside.slaying import slay
from sandbox.inside.spawning import NotStarted, SlotsTaken
from sandbox.inside.words import said

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from sandbox.inside.asked import Asked
    from sandbox.inside.loop import Loop
    from sandbox.inside.words import Plain

    Tell = Callable[[bytes, bytes], None]
    """Takes the end of a call: how it was, as JSON, and what is shown of its output."""

REMEMBERED = 64
"""How many ended calls are answered from memory, for a host whose connection broke just then."""
VANISHED: dict[str, Plain] = {
    "code": None,
    "signal": 9,
    "timed_out": False,
    "seconds": 0.0,
    "limit": None,
    "joined": True,
}
"""The end of one that was running when its sandbox was lost."""
BIRTH_SECONDS, BIRTH_PAUSE = 10.0, 0.05
"""How long, and how often, a start is tried again while every process slot is taken."""


class Calls:
    """Starts, joins and ends them."""

    def __init__(self, loop: Loop) -> None:
        self._loop = loop
        self._known: dict[str, Call] = {}
        self._waiting: dict[str, list[tuple[Tell, bool]]] = {}
        self._records: dict[str, Record] = {}

    def run(self, asked: Asked, tell: Tell, progress: Callable[[int], None]) -> None:
        """Start it or join it."""
        call, key = self._known.get(asked.key), asked.key
        joined = call is not None
        if call is None:
            record = Record(key)
            try:
                if asked.keep and not record.claim():
                    return tell(*_recorded(key, record))
            except OSError as error:
                return tell(_refused(error), b"")
            call = self._known[key] = Call(self._loop, asked, self._ended)
            self._records[key] = record
        if call.meta:
            return tell(said({**call.meta, "joined": True}).encode("ascii"), call.shown)
        self._waiting.setdefault(key, []).append((tell, joined))
        call.on_progress.append(progress)
        if joined:
            call.end_after(asked.timeout)
        else:
            self._start(call, time.monotonic() + BIRTH_SECONDS)
        return None

    def kill(self, key: str) -> bool:
        """End all processes of a call; False if some would not die."""
        call = self._known.get(key)
        return call.kill() if call is not None else slay(key, 0, 1 << 62)

    def forget_waiting(self) -> None:
        """Nobody listens any more; the calls go on."""
        self._waiting.clear()
        for call in self._known.values():
            call.on_progress.clear()

    def _start(self, call: Call, until: float) -> None:
        try:
            call.start()
        except SlotsTaken as error:
            if time.monotonic() > until:
                call.refuse(error)
            else:
                self._loop.after(BIRTH_PAUSE, lambda: self._start(call, until))
        except NotStarted as error:
            call.refuse(error)
        except OSError as error:
            call.refuse(NotStarted(126, os.strerror(error.errno or 0).encode()))
        else:
            self._loop.on_exit(call.pid, call.reap)

    def _ended(self, call: Call) -> None:
        key = call.asked.key
        self._records.pop(key).finish({**call.meta, "joined": True}, call.shown)
        for tell, joined in self._waiting.pop(key, []):
            tell(said({**call.meta, "joined": joined}).encode("ascii"), call.shown)
        call.on_progress.clear()
        ended = [one for one, known in self._known.items() if known.meta]
        for old in ended[: max(0, len(ended) - REMEMBERED)]:
            del self._known[old]


def _recorded(key: str, record: Record) -> tuple[bytes, bytes]:
    """The end of a call that another process ran; one without an end died with the sandbox it ran in."""
    found = record.read()
    if found is not None:
        return found
    streams: list[Plain] = []
    shown = b""
    for stream in STREAMS:
        text = read_some(f"{CALLS}/{key}.{stream}")
        size = _size(f"{CALLS}/{key}.{stream}")
        head, tail = text[:SHOWN], text[SHOWN : 2 * SHOWN]
        shown += head + tail
        streams.append([len(head), len(tail), size, size, f"{CALLS}/{key}.{stream}" if size > 2 * SHOWN else None])
    meta = {**VANISHED, "streams": streams}
    return said(meta).encode("ascii"), shown


def _size(path: str) -> int:
    try:
        return os.lstat(path).st_size
    except OSError:
        return 0


def _refused(error: OSError) -> bytes:
    """It cannot be noted that it runs, so it must not run."""
    full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    return said({"refused": os.strerror(error.errno or 0), "limit": "disk" if full else None}).encode("ascii")
