"""Seal secrets so that a box opens only with its key, under its own name, at its own version, in its own vault.

Tokens, passwords and keys go into AES-256-GCM, cookies and storage into ChaCha20-Poly1305. One data key gives one key
for each by HKDF, so that no key ever serves two algorithms. Plain text is decrypted straight into a `bytearray`.
"""

import hmac
import json
import secrets
from typing import Self

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM, ChaCha20Poly1305
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from contracts.identity import SecretKind, SecretRef, VaultLocked

KEY_BYTES = 32
NONCE_BYTES = 12
TAG_BYTES = 16
KEY_ID_BYTES = 8

_BY_CHACHA: frozenset[SecretKind] = frozenset({"cookies", "storage"})

Cipher = AESGCM | ChaCha20Poly1305


class SealBroken(Exception):
    """Raised when a box was altered, is another's, or was sealed with another key."""


def wipe(secret: bytearray) -> None:
    """Overwrite it. Copies that libraries made of it stay until their memory is used again."""
    secret[:] = bytes(len(secret))


def new_key() -> bytearray:
    return bytearray(secrets.token_bytes(KEY_BYTES))


def new_key_id() -> str:
    return secrets.token_hex(KEY_ID_BYTES)


def about(vault_id: str, key_id: str, ref: SecretRef) -> bytes:
    """What a box is bound to; as JSON, so that no two names can run into one another."""
    return json.dumps([1, vault_id, key_id, ref.profile_id, ref.kind, ref.name, ref.version]).encode()


def seal(cipher: Cipher, plain: bytes | bytearray, bound_to: bytes) -> bytes:
    """A box: nonce, cipher text, tag."""
    nonce = secrets.token_bytes(NONCE_BYTES)
    return nonce + cipher.encrypt(nonce, plain, bound_to)


def unseal(cipher: Cipher, box: bytes, bound_to: bytes) -> bytearray:
    """Raises: SealBroken."""
    if len(box) < NONCE_BYTES + TAG_BYTES:
        raise SealBroken("it is too short to be a box")
    plain = bytearray(len(box) - NONCE_BYTES - TAG_BYTES)
    try:
        cipher.decrypt_into(box[:NONCE_BYTES], memoryview(box)[NONCE_BYTES:], bound_to, plain)
    except InvalidTag:
        wipe(plain)
        raise SealBroken("it was altered, is another's, or was sealed with another key") from None
    return plain


class DataKey:
    """One of the vault's keys, with what is derived from it. The ciphers keep copies that Python cannot wipe."""

    def __init__(self, key_id: str, key: bytearray) -> None:
        """Takes `key` over, and wipes it when it is forgotten."""
        self.key_id = key_id
        self._key = key
        self._aes = AESGCM(_derived(key, b"tokens, passwords and keys"))
        self._chacha = ChaCha20Poly1305(_derived(key, b"cookies and storage"))
        self.index = AESGCM(_derived(key, b"index"))
        self._head = _derived(key, b"head")
        self._forgotten = False

    @classmethod
    def new(cls) -> Self:
        return cls(new_key_id(), new_key())

    @property
    def key(self) -> bytearray:
        """The key itself, to be wrapped; not a copy. Raises: VaultLocked once it is forgotten."""
        if self._forgotten:
            raise VaultLocked("the vault was locked meanwhile")
        return self._key

    def cipher(self, kind: SecretKind) -> Cipher:
        return self._chacha if kind in _BY_CHACHA else self._aes

    def signs(self, statement: bytes) -> str:
        """A MAC for the head."""
        return hmac.digest(self._head, statement, "sha256").hex()

    def verifies(self, statement: bytes, mac: str) -> bool:
        return hmac.compare_digest(self.signs(statement), mac.encode("ascii", "replace").decode())

    def forget(self) -> None:
        self._forgotten = True
        wipe(self._key)
        wipe(self._head)


def _derived(key: bytearray, purpose: bytes) -> bytearray:
    derived = bytearray(KEY_BYTES)
    HKDF(SHA256(), KEY_BYTES, None, b"asos vault 1: " + purpose).derive_into(key, derived)
    return derived
