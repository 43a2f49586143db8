"""What a program writes, on its way to the host."""

from __future__ import annotations

import os

from sandbox.inside.link import Channel
from sandbox.inside.loop import READ
from sandbox.inside.wire import PIECE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sandbox.inside.link import Link
    from sandbox.inside.loop import Loop

LAST_BYTES = 1_048_576
"""How much is still told once nobody waits for more; no pipe holds more than that."""


class Output(Channel):
    """Owns a descriptor from `begin` on, and reads it as fast as the host takes it."""

    def __init__(self, loop: Loop, link: Link, number: int) -> None:
        super().__init__(link, number)
        self._loop = loop
        self._reading = -1
        self._left: int | None = None
        """Once only what is there now is awaited: how much of it may still come."""

    def begin(self, reading: int) -> None:
        os.set_blocking(reading, False)
        self._reading = reading
        self._watch()

    def hurry(self) -> None:
        """The program has ended; one that it left in the background may hold its output open for ever."""
        self._left = LAST_BYTES
        self._empty()

    def over(self) -> None:
        """All is said."""
        self.reply({})

    def more(self) -> None:
        if self._left is None:
            self._watch()
        else:
            self._empty()

    def drop(self) -> None:
        self._close()

    def _watch(self) -> None:
        if self._reading < 0:
            return
        if self.credit > 0:
            self._loop.watch(self._reading, READ, lambda _events: self._pull())
        else:  # its end would be told again and again
            self._loop.unwatch(self._reading)

    def _empty(self) -> None:
        while self._reading >= 0 and self.credit > 0:
            self._pull()
        self._watch()

    def _pull(self) -> None:
        try:
            piece = os.read(self._reading, min(PIECE, self.credit))
        except BlockingIOError:
            if self._left is None:
                return None
            piece = b""
        except OSError:  # how a terminal ends, when the last program has let go of it
            piece = b""
        if piece:
            self.give(piece)
            if self._left is None:
                return self._watch()
            self._left -= len(piece)
        if not piece or (self._left is not None and self._left <= 0):
            self._close()
            self.over()
        return None

    def _close(self) -> None:
        if self._reading >= 0:
            self._loop.unwatch(self._reading)
            os.close(self._reading)
            self._reading = -1
