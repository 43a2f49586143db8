"""References to content that is too large or too private for workflow history."""

from typing import Annotated, Protocol

from pydantic import Field

from contracts.values import Value

Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class BlobRef(Value):
    """Names one stored blob by the SHA-256 of its plain bytes, in hex."""

    sha256: Sha256
    size: int = Field(ge=0)
    """Plain size in bytes."""


class BlobMissing(Exception):
    """Raised when a reference names a blob that the store does not have."""


class BlobDamaged(Exception):
    """Raised when stored bytes do not open with the key or do not match their digest."""


class Blobs(Protocol):
    """A content-addressed, encrypted store. The same bytes give the same reference."""

    async def put(self, content: bytes) -> BlobRef: ...

    async def get(self, ref: BlobRef) -> bytes:
        """Raises: BlobMissing, BlobDamaged."""
        ...
