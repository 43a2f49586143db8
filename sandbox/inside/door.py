"""The door of a sandbox without an engine: an inherited socket, on which the host's stream arrives."""

from __future__ import annotations

import _socket
import os

from sandbox.inside.loop import READ

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sandbox.inside.link import Link
    from sandbox.inside.loop import Loop


class Door:
    """Whoever comes last is the host."""

    def __init__(self, loop: Loop, link: Link, descriptor: int) -> None:
        self._link = link
        self._listener = _socket.socket(fileno=descriptor)
        self._listener.setblocking(False)
        os.set_inheritable(descriptor, False)
        loop.watch(descriptor, READ, lambda _events: self._accept())

    def _accept(self) -> None:
        try:
            descriptor, _ = self._listener._accept()  # type: ignore[attr-defined]  # what `socket` is made of
        except OSError:
            return
        self._link.connect(descriptor, os.dup(descriptor))
