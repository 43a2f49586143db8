"""Takes an engine's headers out of its stream, so that what remains is what the far end wrote."""

from collections.abc import Iterator

HEADER_BYTES = 8
STANDARD_OUTPUT = 1
KEPT_ERROR_BYTES = 2_048


class Unframing:
    """For one stream; `complaint` is what the far end wrote to its standard error, cut to its end."""

    def __init__(self, framed: bool) -> None:
        self._framed = framed
        self._header = b""
        self._left = 0
        self._kind = 0
        self.complaint = b""

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The pieces of standard output; a long one is not awaited as a whole."""
        if not self._framed:
            yield data
            return
        at = 0
        while at < len(data):
            if not self._left:
                missing = HEADER_BYTES - len(self._header)
                self._header += data[at : at + missing]
                at += missing
                if len(self._header) == HEADER_BYTES:
                    self._kind, self._left = self._header[0], int.from_bytes(self._header[4:], "big")
                    self._header = b""
                continue
            piece = data[at : at + self._left]
            at += len(piece)
            self._left -= len(piece)
            if self._kind == STANDARD_OUTPUT:
                yield piece
            else:
                self.complaint = (self.complaint + piece)[-KEPT_ERROR_BYTES:]
