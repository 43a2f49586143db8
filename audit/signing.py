"""The Ed25519 key that signs the audit log, and its public half, by which anybody can check it."""

import hashlib
import re
import stat
from pathlib import Path
from typing import Self

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
)

KEY_ID_CHARACTERS = 16

_SIGNATURE = re.compile(r"[0-9a-f]{128}")


class KeyUnusable(Exception):
    """Raised when a key file is missing, damaged, or open to others; the text names it and the remedy."""


class PublicKey:
    """Checks signatures. Its fingerprint is what an owner writes down on paper."""

    def __init__(self, key: Ed25519PublicKey) -> None:
        self._key = key
        raw = key.public_bytes(Encoding.Raw, PublicFormat.Raw)
        self.fingerprint = hashlib.sha256(raw).hexdigest()

    @classmethod
    def read(cls, pem: bytes) -> Self:
        """Raises: KeyUnusable."""
        try:
            key = load_pem_public_key(pem)
        except (ValueError, UnsupportedAlgorithm):
            raise KeyUnusable("the public key cannot be read") from None
        if not isinstance(key, Ed25519PublicKey):
            raise KeyUnusable("the public key is not of Ed25519")
        read = cls(key)
        if read.pem() != pem:
            raise KeyUnusable("the public key is not spelled as it was written")
        return read

    @property
    def key_id(self) -> str:
        return self.fingerprint[:KEY_ID_CHARACTERS]

    def pem(self) -> bytes:
        return self._key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)

    def verifies(self, statement: bytes, signature: str) -> bool:
        """Only the one spelling that `sign` gives counts."""
        if _SIGNATURE.fullmatch(signature) is None:
            return False
        try:
            self._key.verify(bytes.fromhex(signature), statement)
        except InvalidSignature:
            return False
        return True


class Signer:
    """Signs; the private key is in a file of its own, readable by its owner only."""

    def __init__(self, key: Ed25519PrivateKey) -> None:
        self._key = key
        self.public = PublicKey(key.public_key())

    @classmethod
    def new(cls) -> Self:
        return cls(Ed25519PrivateKey.generate())

    @classmethod
    def load(cls, path: Path) -> Self:
        """Raises: KeyUnusable."""
        try:
            if stat.S_IMODE(path.stat().st_mode) & 0o077:
                raise KeyUnusable(f"{path} can be read by others; run `chmod 600 {path}`")
            key = load_pem_private_key(path.read_bytes(), None)
        except OSError as error:
            raise KeyUnusable(f"cannot read {path}: {error.strerror}; restore it from your backup") from error
        except (ValueError, TypeError, UnsupportedAlgorithm):
            raise KeyUnusable(f"{path} is damaged; restore it from your backup") from None
        if not isinstance(key, Ed25519PrivateKey):
            raise KeyUnusable(f"{path} holds a key of another kind; restore it from your backup")
        return cls(key)

    def pem(self) -> bytes:
        return self._key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())

    def sign(self, statement: bytes) -> str:
        return self._key.sign(statement).hex()
