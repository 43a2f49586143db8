"""The way out of the sandbox: what connects to the proxy's port on loopback is carried to the proxy at the host."""

from __future__ import annotations

import os

import _socket

from sandbox.inside.link import Channel
from sandbox.inside.loop import READ, WRITE
from sandbox.inside.wire import END, OPEN, PIECE, RESET

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from sandbox.inside.link import Link
    from sandbox.inside.loop import Loop

PORT = 3128
MOST_CONNECTIONS = 512
BACKLOG = 128


class WayOut:
    """Takes connections as long as a host is there; until then they wait."""

    def __init__(self, loop: Loop, link: Link) -> None:
        self._loop = loop
        self._link = link
        self._number = 0
        self._open = 0
        self._listener = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
        self._listener.setsockopt(_socket.SOL_SOCKET, _socket.SO_REUSEADDR, 1)
        self._listener.setblocking(False)
        self._listener.bind(("127.0.0.1", PORT))
        self._listener.listen(BACKLOG)

    def begin(self) -> None:
        """A host is there."""
        self._loop.watch(self._listener.fileno(), READ, lambda _events: self._accept())

    def _accept(self) -> None:
        try:
            descriptor, _ = self._listener._accept()
        except OSError:
            return
        if self._open >= MOST_CONNECTIONS:
            os.close(descriptor)
            return
        self._open += 1
        self._number += 2
        Carried(self._loop, self._link, self._number, descriptor, self._ended)

    def _ended(self) -> None:
        self._open -= 1


class Carried(Channel):
    """One connection. Each way is carried as fast as the other end takes it."""

    def __init__(self, loop: Loop, link: Link, number: int, descriptor: int, on_end: Callable[[], None]) -> None:
        super().__init__(link, number)
        self._loop = loop
        self._socket = _socket.socket(fileno=descriptor)
        self._socket.setblocking(False)
        self._on_end = on_end
        self._inward = bytearray()
        self._said_all = False
        """True if the program at this end has ended its words."""
        self._heard_all = False
        link.send(OPEN, number)
        self._watch()

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
        if self._inward:
            self._watch()
        else:
            self._loop.unwatch(self._socket.fileno())
            self._socket.close()
            self._on_end()

    def _watch(self) -> None:
        events = READ if self.credit > 0 and not self._said_all else 0
        if self._inward:
            events |= WRITE
        if events:
            self._loop.watch(self._socket.fileno(), events, self._act)
        else:  # the end of the connection would be told again and again
            self._loop.unwatch(self._socket.fileno())

    def _act(self, events: int) -> None:
        if events & WRITE and self._inward:
            self._push()
        if events & ~WRITE and not self._said_all and self.credit > 0:
            self._pull()

    def _pull(self) -> None:
        try:
            piece = self._socket.recv(min(PIECE, self.credit))
        except BlockingIOError:
            return
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
                sent = self._socket.send(self._inward[:PIECE])
                del self._inward[:sent]
                self.took(sent)
            if self._heard_all and not self._said_all:
                self._socket.shutdown(_socket.SHUT_WR)
        except BlockingIOError:
            pass
        except OSError:
            return self._break()
        return self._go_on()

    def _go_on(self) -> None:
        if self._said_all and self._heard_all and not self._inward:
            self.close()
            self.drop()
        else:
            self._watch()

    def _break(self) -> None:
        self._inward.clear()
        if self.number in self.link.channels:
            self.link.send(RESET, self.number)
            self.close()
        self.drop()
