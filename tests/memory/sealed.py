"""A real cipher with one key, for stores that seal what they keep."""

import os

from cryptography.hazmat.primitives.ciphers.aead import AESGCM


class Sealed:
    """AES-GCM with one key."""

    def __init__(self) -> None:
        self._cipher = AESGCM(AESGCM.generate_key(256))

    def seal(self, plain: bytes, associated: bytes) -> bytes:
        nonce = os.urandom(12)
        return nonce + self._cipher.encrypt(nonce, plain, associated)

    def unseal(self, box: bytes, associated: bytes) -> bytes:
        return self._cipher.decrypt(box[:12], box[12:], associated)
