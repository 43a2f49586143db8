"""Bytes between the host and a descriptor of the sandbox, each way as fast as the other end takes them."""

from __future__ import annotations

import os

from sandbox.inside.link import Channel
from sandbox.inside.loop import READ, WRITE
from sandbox.inside.wire import END, PIECE, RESET

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sandbox.inside.link import Link
    from sandbox.inside.loop import Loop


class Flow(Channel):
    """Owns the descriptor, and closes it when both sides have said all."""

    def __init__(self, loop: Loop, link: Link, number: int, descriptor: int) -> None:
        super().__init__(link, number)
        self._loop = loop
        self.descriptor = descriptor
        os.set_blocking(descriptor, False)
        self._inward = bytearray()
        self._said_all = False
        """True if the program at this end has ended its words."""
        self._heard_all = False

    def begin(self) -> None:
        self._watch()

    def shut(self) -> None:
        """Tell the program that no more comes."""

    def over(self) -> None:
        """The descriptor is closed."""

    def take(self, data: bytes) -> None:
        self._inward += data
        self._push()

    def end(self) -> None:
        self._heard_all = True
        self._push()

    def more(self) -> None:
        self._watch()

    def drop(self) -> None:
        """What the host sent before it gave up still goes to the program."""
        self._said_all = self._heard_all = True
        self._go_on()

    def _watch(self) -> None:
        events = READ if self.credit > 0 and not self._said_all else 0
        if self._inward:
            events |= WRITE
        if events:
            self._loop.watch(self.descriptor, events, self._act)
        else:  # the end of the other side would be told again and again
            self._loop.unwatch(self.descriptor)

    def _act(self, events: int) -> None:
        if events & WRITE and self._inward:
            self._push()
        if events & ~WRITE and self.descriptor >= 0 and not self._said_all and self.credit > 0:
            self._pull()

    def _pull(self) -> None:
        try:
            piece = os.read(self.descriptor, min(PIECE, self.credit))
        except BlockingIOError:
            return None
        except OSError:
            return self._break()
        if piece:
            self.give(piece)
        else:
            self._said_all = True
            self.link.send(END, self.number)
        return self._go_on()

    def _push(self) -> None:
        try:
            while self._inward:
                sent = os.write(self.descriptor, self._inward[:PIECE])
                del self._inward[:sent]
                self.took(sent)
            if self._heard_all and not self._said_all:
                self.shut()
        except BlockingIOError:
            pass
        except OSError:
            return self._break()
        return self._go_on()

    def _go_on(self) -> None:
        if self._said_all and self._heard_all and not self._inward:
            self._loop.unwatch(self.descriptor)
            os.close(self.descriptor)
            self.descriptor = -1
            self.over()
        else:
            self._watch()

    def _break(self) -> None:
        self._inward.clear()
        if self.number in self.link.channels:
            self.link.send(RESET, self.number)
            self.close()
        self.drop()
