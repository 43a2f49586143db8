"""Connections on the sandbox's loopback: those to the proxy's port go to the host, and the host makes others."""

from __future__ import annotations

import _socket
import os

from sandbox.inside.flow import Flow
from sandbox.inside.loop import READ
from sandbox.inside.wire import OPEN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from sandbox.inside.link import Link
    from sandbox.inside.loop import Loop

PORT = 3128
MOST_CONNECTIONS = 256
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
            descriptor, _ = self._listener._accept()  # type: ignore[attr-defined]  # what `socket` is made of
        except OSError:
            return
        if self._open >= MOST_CONNECTIONS:
            os.close(descriptor)
            return
        self._open += 1
        self._number += 2
        self._link.send(OPEN, self._number)
        Carried(self._loop, self._link, self._number, descriptor, self._ended).begin()

    def _ended(self) -> None:
        self._open -= 1


class Carried(Flow):
    """One connection."""

    def __init__(self, loop: Loop, link: Link, number: int, descriptor: int, on_end: Callable[[], None]) -> None:
        super().__init__(loop, link, number, descriptor)
        self._on_end = on_end

    def shut(self) -> None:
        stream = _socket.socket(fileno=self.descriptor)
        try:
            stream.shutdown(_socket.SHUT_WR)
        finally:
            stream.detach()

    def over(self) -> None:
        self.close()
        self._on_end()


def connected(loop: Loop, link: Link, number: int, port: int) -> Carried:
    """A connection to a server in the sandbox; if there is none, its first use breaks it."""
    stream = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
    stream.setblocking(False)
    stream.connect_ex(("127.0.0.1", port))
    return Carried(loop, link, number, stream.detach(), lambda: None)
