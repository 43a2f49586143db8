"""The words of host and agent: frames on a byte stream, and the mark that begins a conversation anew."""

from __future__ import annotations

import struct

MAGIC = b"\xffasos\xfelink\xfd\xff"
"""Holds no NUL, so that it never begins in one frame and ends in the head of the next."""
NONCE_BYTES = 32
VERSION = 1

HEAD = struct.Struct(">BBII")
META = struct.Struct(">I")
SPOKEN = struct.Struct(">BI")
"""Before each piece that a program behind pipes says: the stream and the length."""
OUTPUT, ERRORS = 1, 2
LARGEST = 131_072
PIECE = 65_536
WINDOW = 524_288
"""How much of a channel may be under way before its receiver has taken it."""
LARGEST_REQUEST = 67_108_864

REQUEST, MORE, REPLY, EVENT, DATA, CREDIT, END, RESET, OPEN = range(1, 10)


class Garbage(Exception):
    """Raised when what came is no frame."""


def frame(kind: int, number: int, payload: bytes = b"") -> bytes:
    return HEAD.pack(0, kind, number, len(payload)) + payload


def packed(meta: bytes, body: bytes = b"") -> bytes:
    """A description and what belongs to it, as one payload."""
    return META.pack(len(meta)) + meta + body


def unpacked(payload: bytes) -> tuple[bytes, bytes]:
    """Raises: Garbage."""
    if len(payload) < META.size:
        raise Garbage("a payload without its description")
    end = META.size + META.unpack_from(payload)[0]
    if end > len(payload):
        raise Garbage("a description longer than its payload")
    return payload[META.size : end], payload[end:]


def pieces(content: bytes) -> list[bytes]:
    """The content in parts that fit a frame, of which none holds the mark. At least one, which may be empty."""
    if len(content) <= PIECE and MAGIC not in content:
        return [content]
    cut = [content[at : at + PIECE] for at in range(0, len(content), PIECE)]
    found = []
    for piece in cut:
        while (at := piece.find(MAGIC)) >= 0:
            found.append(piece[: at + 1])
            piece = piece[at + 1 :]
        found.append(piece)
    return found


class Frames:
    """Cuts a stream into frames."""

    def __init__(self) -> None:
        self._held = bytearray()

    def feed(self, data: bytes) -> list[tuple[int, int, bytes]]:
        """Raises: Garbage."""
        held, at, found = self._held, 0, []
        held += data
        while len(held) - at >= HEAD.size:
            zero, kind, number, size = HEAD.unpack_from(held, at)
            if zero or not REQUEST <= kind <= OPEN or size > LARGEST:
                raise Garbage("what came is no frame")
            end = at + HEAD.size + size
            if len(held) < end:
                break
            found.append((kind, number, bytes(held[at + HEAD.size : end])))
            at = end
        del held[:at]
        return found


class Hearing:
    """The agent's end: whatever the host before left unfinished is skipped at the next mark."""

    def __init__(self) -> None:
        self._recent = b""
        self._frames: Frames | None = None

    def feed(self, data: bytes) -> tuple[bytes | None, list[tuple[int, int, bytes]]]:
        """The nonce of a conversation that begins, and the frames that belong to the present one."""
        seen = self._recent + data
        at = seen.rfind(MAGIC)
        if at < 0:
            self._recent = seen[1 - len(MAGIC) :]
            return None, self._cut(data)
        end = at + len(MAGIC) + NONCE_BYTES
        if len(seen) < end:
            self._frames, self._recent = None, seen[at:]
            return None, []
        self._frames, self._recent = Frames(), seen[end:][1 - len(MAGIC) :]
        return seen[end - NONCE_BYTES : end], self._cut(seen[end:])

    def _cut(self, fresh: bytes) -> list[tuple[int, int, bytes]]:
        if self._frames is None:
            return []
        try:
            return self._frames.feed(fresh)
        except Garbage:
            self._frames = None
            return []
