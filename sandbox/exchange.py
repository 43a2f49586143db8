"""One exchange with a sandbox's agent, from the host's side: a request with its answer, or a connection from inside."""

import asyncio
import json
from collections import deque
from collections.abc import Callable
from typing import Protocol, TypeVar

from pydantic import BaseModel, ValidationError

from sandbox.inside.wire import CREDIT, DATA, END, PIECE, RESET, WINDOW, Garbage, pieces, unpacked

LONGEST_COMPLAINT = 500

M = TypeVar("M", bound=BaseModel)


class LinkBroken(ConnectionError):
    """Raised when the stream ends, or when what comes is not what an agent says."""


class FarEndRefused(Exception):
    """Raised when the agent says that it will not or cannot; the text says why."""


class Sending(Protocol):
    """The link, as far as an exchange needs it."""

    @property
    def paused(self) -> bool: ...

    def send(self, kind: int, number: int, payload: bytes = b"") -> None: ...

    def forget(self, number: int) -> None: ...

    def abort(self, why: str) -> None: ...


class Exchange:
    """To read from, to write to, or to await the answer of."""

    def __init__(self, link: Sending, number: int, on_event: Callable[[bytes], None] | None = None) -> None:
        self.number = number
        self._link = link
        self._on_event = on_event
        self._answer: bytes | None = None
        self._error: LinkBroken | None = None
        self._news = asyncio.Event()
        self._incoming: deque[bytes] = deque()
        self._unused = 0
        """Bytes that came and were not yet told to be used up."""
        self._used = 0
        self._ended = False
        self._outgoing = bytearray()
        self._credit = WINDOW
        self._eof = self._eof_sent = self._closing = False

    async def answer(self, model: type[M]) -> tuple[M, bytes]:
        """Its description, and what belongs to it. Raises: LinkBroken, FarEndRefused."""
        while self._answer is None:
            await self._wait()
        try:
            meta, body = unpacked(self._answer)
            said = json.loads(meta)
            if isinstance(said, dict) and "error" in said:
                raise FarEndRefused(_printable(str(said["error"])))
            return model.model_validate(said), body
        except (Garbage, ValueError, RecursionError, ValidationError) as error:
            raise self.broken("an answer that is none") from error

    async def read(self, size: int = -1, /) -> bytes:
        """What came, at most so much; empty at the end. Raises: LinkBroken."""
        while not self._incoming:
            if self._ended or self._answer is not None:
                return b""
            await self._wait()
        piece = self._incoming.popleft()
        if 0 <= size < len(piece):
            self._incoming.appendleft(piece[size:])
            piece = piece[:size]
        self._used += len(piece)
        if self._used >= WINDOW // 4:
            self._link.send(CREDIT, self.number, self._used.to_bytes(4, "big"))
            self._unused, self._used = self._unused - self._used, 0
        return piece

    def write(self, data: bytes, /) -> None:
        """What comes after the answer or the end is left out: nobody is there to take it."""
        if self._error is None and self._answer is None and not self._eof:
            self._outgoing += data
            self.push()

    async def drain(self) -> None:
        """Until little is left to send, or the answer is there. Raises: LinkBroken."""
        while len(self._outgoing) > PIECE and self._answer is None:
            await self._wait()

    def write_eof(self) -> None:
        self._eof = True
        self.push()

    def close(self) -> None:
        """Send what was written, and be done with it."""
        self._closing = True
        self.write_eof()

    def reset(self) -> None:
        """Be done with it at once."""
        if self._error is None and self._answer is None:
            self._link.send(RESET, self.number)
            self._link.forget(self.number)
            self.fail(LinkBroken("it was given up"))

    def push(self) -> None:
        """Send what may be sent now."""
        while self._outgoing and self._credit > 0 and not self._link.paused:
            size = min(PIECE, self._credit)
            for piece in pieces(bytes(self._outgoing[:size])):
                self._link.send(DATA, self.number, piece)
            self._credit -= min(size, len(self._outgoing))
            del self._outgoing[:size]
        if self._eof and not self._outgoing and not self._eof_sent and self._error is None:
            self._eof_sent = True
            self._link.send(END, self.number)
            if self._closing:
                self.reset()
        self._news.set()

    def hear(self, kind: int, payload: bytes) -> None:
        """Raises: LinkBroken."""
        if kind == DATA:
            self._unused += len(payload)
            if self._unused > 2 * WINDOW:
                raise self.broken("more than there is room for")
            self._incoming.append(payload)
        elif kind == CREDIT:
            self._credit += int.from_bytes(payload[:4], "big")
            self.push()
        elif kind == END:
            self._ended = True
        elif kind == RESET:
            self._link.forget(self.number)
            self.fail(LinkBroken("the other end broke it off"))
        elif self._on_event is not None:
            self._on_event(payload)
        self._news.set()

    def conclude(self, payload: bytes) -> None:
        self._answer = payload
        self._outgoing.clear()
        self._news.set()

    def fail(self, error: LinkBroken) -> None:
        self._error = error
        self._outgoing.clear()
        self._news.set()

    def broken(self, why: str) -> LinkBroken:
        """End the whole stream: who says this says anything."""
        self._link.abort(why)
        return LinkBroken(why)

    async def _wait(self) -> None:
        if self._error is not None:
            raise LinkBroken(str(self._error)) from self._error
        self._news.clear()
        await self._news.wait()


def _printable(text: str) -> str:
    return text[:LONGEST_COMPLAINT].encode("utf-8", "replace").decode()
