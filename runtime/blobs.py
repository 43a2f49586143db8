"""A content-addressed store in a folder: one sealed file a blob, named so that the name tells nothing."""

import asyncio
import errno
import hashlib
from collections import OrderedDict
from pathlib import Path

from contracts.blobs import BlobDamaged, BlobMissing, BlobRef
from runtime.files import write_atomically
from runtime.keys import Keyring, SealBroken, UnknownKey
from runtime.paths import FOLDER_MODE

CACHE_BYTES = 16 * 1024 * 1024
CACHED_BLOB_BYTES = 256 * 1024
"""Larger blobs are files for people, read once; smaller ones are transcript pages, read at every step."""


class FileBlobs:
    """Satisfies contracts.blobs.Blobs. Several processes may share one folder."""

    def __init__(self, root: Path, keyring: Keyring) -> None:
        self._root = root
        self._keyring = keyring
        self._cache = _Cache()

    async def put(self, content: bytes) -> BlobRef:
        """Store, on disk when this returns. Raises: OSError, such as for a full disk."""
        ref = await asyncio.to_thread(self._write, content)
        self._cache.keep(ref.sha256, content)
        return ref

    async def get(self, ref: BlobRef) -> bytes:
        content = self._cache.find(ref.sha256)
        if content is None:
            content = await asyncio.to_thread(self._read, ref.sha256)
            self._cache.keep(ref.sha256, content)
        if len(content) != ref.size:
            raise BlobDamaged(f"blob {ref.sha256} has {len(content)} bytes and not the {ref.size} of its reference")
        return content

    async def sealed(self, ref: BlobRef) -> bytes:
        """As it is stored, for who may keep it and not read it. Raises: BlobMissing."""
        try:
            return await asyncio.to_thread(self._path(ref.sha256).read_bytes)
        except FileNotFoundError:
            raise BlobMissing(f"no blob {ref.sha256} in {self._root}") from None

    def _write(self, content: bytes) -> BlobRef:
        sha256 = hashlib.sha256(content).hexdigest()
        if not self._holds(sha256):
            path = self._path(sha256)
            try:
                path.parent.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
                write_atomically(path, self._keyring.seal(content, _associated(sha256)))
            except OSError as error:
                raise _explained(error, self._root) from error
        return BlobRef(sha256=sha256, size=len(content))

    def _holds(self, sha256: str) -> bool:
        """Whether it is there and whole: a damaged one is written anew."""
        try:
            self._read(sha256)
        except (BlobMissing, BlobDamaged):
            return False
        return True

    def _read(self, sha256: str) -> bytes:
        path = self._path(sha256)
        try:
            content = self._keyring.unseal(path.read_bytes(), _associated(sha256))
        except FileNotFoundError:
            raise BlobMissing(f"no blob {sha256} in {self._root}") from None
        except (SealBroken, UnknownKey) as error:
            raise BlobDamaged(f"blob {sha256} in {path}: {error}") from error
        if hashlib.sha256(content).hexdigest() != sha256:
            raise BlobDamaged(f"blob {sha256} in {path} holds other content")
        return content

    def _path(self, sha256: str) -> Path:
        name = self._keyring.name(b"blob:" + sha256.encode())
        return self._root / name[:2] / name[2:]


class _Cache:
    """The last small blobs, up to CACHE_BYTES; used on the event loop only."""

    def __init__(self) -> None:
        self._entries: OrderedDict[str, bytes] = OrderedDict()
        self._bytes = 0

    def find(self, sha256: str) -> bytes | None:
        if sha256 in self._entries:
            self._entries.move_to_end(sha256)
        return self._entries.get(sha256)

    def keep(self, sha256: str, content: bytes) -> None:
        if len(content) > CACHED_BLOB_BYTES or sha256 in self._entries:
            return
        self._entries[sha256] = content
        self._bytes += len(content)
        while self._bytes > CACHE_BYTES:
            self._bytes -= len(self._entries.popitem(last=False)[1])


def _associated(sha256: str) -> bytes:
    return b"asos/blob:" + sha256.encode()


def _explained(error: OSError, root: Path) -> OSError:
    if error.errno not in (errno.ENOSPC, errno.EDQUOT):
        return error
    return OSError(error.errno, "the disk is full: free some space, or move the data folder (ASOS_DATA_DIR)", str(root))
