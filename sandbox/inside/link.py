"""The agent's end of the stream to the host, and the channels on it."""

from __future__ import annotations

import os

from sandbox.inside.loop import READ, WRITE
from sandbox.inside.wire import (
    CREDIT,
    DATA,
    END,
    LARGEST_REQUEST,
    MAGIC,
    MORE,
    REPLY,
    REQUEST,
    RESET,
    WINDOW,
    Hearing,
    frame,
    packed,
)
from sandbox.inside.words import said

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from sandbox.inside.loop import Loop
    from sandbox.inside.words import Plain

READ_BYTES = 262_144


class Channel:
    """One exchange with the host, and the bytes of it either way."""

    def __init__(self, link: Link, number: int) -> None:
        self.link = link
        self.number = number
        self.credit = WINDOW
        """How many bytes the host takes now."""
        self._taken = 0
        link.channels[number] = self

    def take(self, data: bytes) -> None:
        """Bytes from the host."""

    def end(self) -> None:
        """The host sends no more."""

    def more(self) -> None:
        """The host takes more now."""

    def drop(self) -> None:
        """The host wants no more of this, or is gone: free everything, and say nothing."""

    def give(self, data: bytes) -> None:
        self.credit -= len(data)
        self.link.send(DATA, self.number, data)

    def took(self, size: int) -> None:
        """So many bytes of the host have been used up; it may send as many more."""
        self._taken += size
        if self._taken >= WINDOW // 4:
            self.link.send(CREDIT, self.number, self._taken.to_bytes(4, "big"))
            self._taken = 0

    def reply(self, meta: dict[str, Plain], body: bytes = b"") -> None:
        self.close()
        self.link.reply(self.number, said(meta).encode("ascii"), body)

    def close(self) -> None:
        self.link.channels.pop(self.number, None)


class Link:
    """One stream, or one after another: whoever begins a conversation is the host from then on."""

    def __init__(self, loop: Loop, on_begin: Callable[[], None], on_request: Callable[[int, bytes], None]) -> None:
        self.channels: dict[int, Channel] = {}
        self._loop = loop
        self._on_begin = on_begin
        self._on_request = on_request
        self._reading = self._writing = -1
        self._hearing = Hearing()
        self._queue: list[bytes] = []
        self._parts: dict[int, bytearray] = {}
        self._corked = False

    def connect(self, reading: int, writing: int) -> None:
        """From now on over these descriptors, of which nobody else makes use."""
        self.disconnect()
        self._hearing, self._reading, self._writing = Hearing(), reading, writing
        for descriptor in (reading, writing):
            os.set_blocking(descriptor, False)
        self._loop.watch(reading, READ, lambda _events: self._hear())

    def disconnect(self) -> None:
        self._reset()
        for descriptor in {self._reading, self._writing} - {-1}:
            self._loop.unwatch(descriptor)
            os.close(descriptor)
        self._reading = self._writing = -1

    def send(self, kind: int, number: int, payload: bytes = b"") -> None:
        if self._writing < 0:
            return
        self._queue.append(frame(kind, number, payload))
        if not self._corked:
            self._flush()

    def reply(self, number: int, meta: bytes, body: bytes = b"") -> None:
        self.send(REPLY, number, packed(meta, body))

    def hear(self, data: bytes) -> None:
        """Act on what came."""
        self._corked = True
        nonce, frames = self._hearing.feed(data)
        if nonce is not None:
            self._reset()
            self._queue.append(MAGIC + nonce)
            self._on_begin()
        for kind, number, payload in frames:
            self._act(kind, number, payload)
        self._corked = False
        self._flush()

    def _hear(self) -> None:
        try:
            data = os.read(self._reading, READ_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if data:
            self.hear(data)
        else:
            self.disconnect()

    def _act(self, kind: int, number: int, payload: bytes) -> None:
        if kind in (REQUEST, MORE):
            part = self._parts.setdefault(number, bytearray())
            if len(part) + len(payload) <= LARGEST_REQUEST:
                part += payload
            if kind == REQUEST:
                self._on_request(number, bytes(self._parts.pop(number)))
            return
        channel = self.channels.get(number)
        if channel is None:
            return
        if kind == DATA:
            channel.take(payload)
        elif kind == END:
            channel.end()
        elif kind == CREDIT:
            channel.credit += int.from_bytes(payload, "big")
            channel.more()
        elif kind == RESET:
            channel.close()
            channel.drop()

    def _reset(self) -> None:
        self._queue.clear()
        self._parts.clear()
        for channel in list(self.channels.values()):
            channel.close()
            channel.drop()

    def _flush(self) -> None:
        while self._queue and self._writing >= 0:
            text = b"".join(self._queue) if len(self._queue) > 1 else self._queue[0]
            try:
                written = os.write(self._writing, text)
            except BlockingIOError:
                written = 0
            except OSError:
                return self.disconnect()
            if written < len(text):
                self._queue = [text[written:]]
                self._loop.watch(self._writing, WRITE, lambda _events: self._flush_on())
                return None
            self._queue.clear()
        return None

    def _flush_on(self) -> None:
        self._loop.unwatch(self._writing)
        self._flush()
