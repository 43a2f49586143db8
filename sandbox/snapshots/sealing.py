"""How everything in the store is sealed: AES-256-GCM, bound to what it is and where it belongs.

A box is `version | length of key id | key id | nonce | ciphertext and tag`; what comes before the nonce is
authenticated together with the place that alone it opens at.
"""

import hmac
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

VERSION = 1
NONCE_BYTES = 12
KEY_BYTES = 32
NAME_BYTES = 20


class SealBroken(Exception):
    """Raised when a box was altered, cut short, belongs elsewhere, or was sealed with a key that is not at hand."""


@dataclass(frozen=True)
class SnapshotKeys:
    """Where the store gets its keys from. Keys may be added while it is open; the naming key never changes."""

    active: Callable[[], str]
    """Id of the key that seals."""
    key: Callable[[str], bytes]
    """The key with this id, 32 bytes. Raises: KeyError."""
    naming: bytes
    """Gives contents and owners the names that only its holders can link to them."""

    @classmethod
    def from_secret(cls, secret: bytes) -> Self:
        """Of one secret that is never changed."""
        seal, naming = derived(secret, b"seal"), derived(secret, b"naming")
        return cls(active=lambda: "only", key={"only": seal}.__getitem__, naming=naming)


class Seal:
    """Seals, opens and names; may be used by several threads at once."""

    def __init__(self, keys: SnapshotKeys) -> None:
        self._keys = keys
        self._ciphers: dict[str, AESGCM] = {}

    def close(self, plain: bytes, place: str) -> bytes:
        """A box that opens at this place alone."""
        key_id = self._keys.active()
        header = bytes((VERSION, len(key_id))) + key_id.encode("ascii")
        nonce = secrets.token_bytes(NONCE_BYTES)
        return header + nonce + self._cipher(key_id).encrypt(nonce, plain, header + place.encode())

    def open(self, box: bytes, place: str) -> bytes:
        """Raises: SealBroken."""
        key_id, header = _parsed(box)
        nonce = box[len(header) : len(header) + NONCE_BYTES]
        try:
            return self._cipher(key_id).decrypt(nonce, box[len(header) + NONCE_BYTES :], header + place.encode())
        except (InvalidTag, ValueError):
            raise SealBroken("it was altered, or belongs elsewhere") from None

    def name(self, content: bytes) -> str:
        """For content that only holders of the naming key can link to it: HMAC-SHA-256 of 160 bits, in hex."""
        return hmac.digest(self._keys.naming, content, "sha256")[:NAME_BYTES].hex()

    def _cipher(self, key_id: str) -> AESGCM:
        if key_id not in self._ciphers:
            try:
                self._ciphers[key_id] = AESGCM(self._keys.key(key_id))
            except KeyError:
                raise SealBroken(f"it was sealed with the key {key_id!r}, which is not in this keyring") from None
        return self._ciphers[key_id]


def derived(secret: bytes, label: bytes) -> bytes:
    """A key of its own for one purpose."""
    return HKDF(SHA256(), KEY_BYTES, salt=None, info=b"asos/snapshots/" + label).derive(secret)


def _parsed(box: bytes) -> tuple[str, bytes]:
    if len(box) < 2 or box[0] != VERSION or len(box) < 2 + box[1] + NONCE_BYTES:
        raise SealBroken("it is no sealed box")
    header = box[: 2 + box[1]]
    try:
        return header[2:].decode("ascii"), header
    except UnicodeDecodeError:
        raise SealBroken("it is no sealed box") from None
