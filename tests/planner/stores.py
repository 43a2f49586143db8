"""A blob store in memory, which counts what is asked of it."""

import hashlib

from contracts.blobs import BlobMissing, BlobRef


class MemoryBlobs:
    """Content-addressed like the real one; `gets` and `puts` count the calls."""

    def __init__(self) -> None:
        self.content: dict[str, bytes] = {}
        self.gets = 0
        self.puts = 0

    async def put(self, content: bytes) -> BlobRef:
        self.puts += 1
        name = hashlib.sha256(content).hexdigest()
        self.content[name] = content
        return BlobRef(sha256=name, size=len(content))

    async def get(self, ref: BlobRef) -> bytes:
        self.gets += 1
        if ref.sha256 not in self.content:
            raise BlobMissing(ref.sha256)
        return self.content[ref.sha256]
