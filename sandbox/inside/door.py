"""The door of a sandbox without an engine: an inherited socket, on which the host's agent link and its SSH arrive."""

from __future__ import annotations

import os

import _socket

from sandbox.inside.loop import READ
from sandbox.inside.spawning import NotStarted, spawn
from sandbox.inside.wire import MAGIC

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sandbox.inside.link import Link
    from sandbox.inside.loop import Loop


class Door:
    """Tells the two apart by their first byte."""

    def __init__(self, loop: Loop, link: Link, descriptor: int, bootstrap: bytes) -> None:
        self._loop = loop
        self._link = link
        self._bootstrap = bootstrap
        self._listener = _socket.socket(fileno=descriptor)
        self._listener.setblocking(False)
        os.set_inheritable(descriptor, False)
        loop.watch(descriptor, READ, lambda _events: self._accept())

    def _accept(self) -> None:
        try:
            descriptor, _ = self._listener._accept()
        except OSError:
            return
        os.set_blocking(descriptor, False)
        self._loop.watch(descriptor, READ, lambda _events: self._sort(descriptor))

    def _sort(self, descriptor: int) -> None:
        self._loop.unwatch(descriptor)
        stream = _socket.socket(fileno=descriptor)
        try:
            first = stream.recv(1, _socket.MSG_PEEK)
        except OSError:
            first = b""
        stream.detach()
        if first == MAGIC[:1]:
            self._link.connect(descriptor, os.dup(descriptor))
            return
        try:
            if first:
                os.set_blocking(descriptor, True)
                nothing = os.open(os.devnull, os.O_WRONLY)
                try:
                    words = [b"/bin/sh", b"-c", self._bootstrap]
                    spawn(words, dict(os.environb), b"/workspace", (descriptor, descriptor, nothing))
                finally:
                    os.close(nothing)
        except (NotStarted, OSError):
            pass  # the host sees the connection end
        finally:
            os.close(descriptor)
