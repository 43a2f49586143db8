"""The keyring of an installation: AES-256-GCM keys with ids; the active one seals, every one opens.

A sealed box is `version | length of key id | key id | nonce | ciphertext and tag`; everything before the nonce is
authenticated together with the caller's associated data, so a box moved to another place does not open there.
"""

import hashlib
import hmac
import secrets
import stat
from base64 import b64decode, b64encode
from pathlib import Path
from typing import Annotated, Self

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from pydantic import Field, ValidationError

from contracts.values import Value
from runtime.files import create_atomically, write_atomically
from runtime.paths import DataPaths, private_folder

VERSION = 1
NONCE_BYTES = 12
KEY_BYTES = 32

KeyText = Annotated[str, Field(pattern=r"^[A-Za-z0-9+/]{43}=$")]


class KeyringUnusable(Exception):
    """Raised when the key file is missing though data exists, open to others, or damaged; the text says the remedy."""


class UnknownKey(Exception):
    """Raised when a box was sealed with a key that this keyring does not hold; the text names the key's id."""


class SealBroken(Exception):
    """Raised when a box was altered, cut short, or sealed for another place."""


class _Stored(Value):
    """The key file."""

    active: str
    keys: dict[str, KeyText] = Field(repr=False)
    naming: KeyText = Field(repr=False)
    """Gives stored content its names; it stays the same when keys rotate, or equal content would be stored twice."""


class Keyring:
    """Seals and opens. Share one per process; it rereads its file when it meets a key it does not know."""

    def __init__(self, path: Path, stored: _Stored) -> None:
        self._path = path
        self._use(stored)

    @classmethod
    def load(cls, data_dir: Path) -> Self:
        """Read the keyring of a data folder, or make it at the first start. Raises: KeyringUnusable."""
        paths = DataPaths(data_dir)
        private_folder(paths.keyring.parent)
        if not paths.keyring.exists():
            _create(paths)
        return cls(paths.keyring, _read(paths.keyring))

    @property
    def active_key_id(self) -> str:
        """The key that seals."""
        return self._active

    def rotate(self) -> str:
        """Add a key that seals from now on, and give its id; the older ones still open."""
        stored = _read(self._path)
        key_id = _new_key_id()
        fresh = stored.model_copy(update={"active": key_id, "keys": {**stored.keys, key_id: _new_key()}})
        write_atomically(self._path, fresh.model_dump_json().encode())
        self._use(fresh)
        return key_id

    def seal(self, plain: bytes, associated: bytes) -> bytes:
        """Encrypt; `associated` names the place where alone the box opens."""
        header = _header(self._active)
        nonce = secrets.token_bytes(NONCE_BYTES)
        return header + nonce + self._ciphers[self._active].encrypt(nonce, plain, header + associated)

    def unseal(self, box: bytes, associated: bytes) -> bytes:
        """Decrypt. Raises: UnknownKey, SealBroken."""
        key_id, header = _parsed(box)
        nonce = box[len(header) : len(header) + NONCE_BYTES]
        try:
            return self._cipher(key_id).decrypt(nonce, box[len(header) + NONCE_BYTES :], header + associated)
        except (InvalidTag, ValueError):
            raise SealBroken(f"{len(box)} bytes sealed with key {key_id} were altered or belong elsewhere") from None

    def name(self, content: bytes) -> str:
        """A name for content that only holders of the keyring can link to it: HMAC-SHA-256, in hex."""
        return hmac.new(self._naming, content, hashlib.sha256).hexdigest()

    def derived(self, key_id: str, label: bytes) -> bytes:
        """A key of its own for one purpose, from the key with this id. Raises: UnknownKey."""
        self._cipher(key_id)
        return _derived(self._keys[key_id], label)

    def derived_naming(self, label: bytes) -> bytes:
        """A naming key of its own for one purpose; it stays the same when keys rotate."""
        return _derived(self._naming, label)

    def _cipher(self, key_id: str) -> AESGCM:
        if key_id not in self._ciphers:
            self._use(_read(self._path))
        if key_id not in self._ciphers:
            raise UnknownKey(f"sealed with key {key_id!r}, which {self._path} does not hold; restore that key file")
        return self._ciphers[key_id]

    def _use(self, stored: _Stored) -> None:
        self._active = stored.active
        self._naming = b64decode(stored.naming)
        self._keys = {key_id: b64decode(key) for key_id, key in stored.keys.items()}
        self._ciphers = {key_id: AESGCM(key) for key_id, key in self._keys.items()}


def _create(paths: DataPaths) -> None:
    for kept in (paths.temporal_database, paths.blobs):
        if kept.is_file() or (kept.is_dir() and any(kept.iterdir())):
            raise KeyringUnusable(
                f"{paths.keyring} is missing, but {kept} holds data sealed with it; restore the key file from your "
                "backup, or move the data folder away to start afresh"
            )
    key_id = _new_key_id()
    stored = _Stored(active=key_id, keys={key_id: _new_key()}, naming=_new_key())
    create_atomically(paths.keyring, stored.model_dump_json().encode())


def _read(path: Path) -> _Stored:
    try:
        if stat.S_IMODE(path.stat().st_mode) & 0o077:
            raise KeyringUnusable(f"{path} can be read by others; run `chmod 600 {path}`")
        stored = _Stored.model_validate_json(path.read_bytes())
    except OSError as error:
        raise KeyringUnusable(f"cannot read {path}: {error.strerror}; restore it from your backup") from error
    except ValidationError:
        raise KeyringUnusable(f"{path} is damaged; restore it from your backup") from None
    if stored.active not in stored.keys:
        raise KeyringUnusable(f"{path} is damaged: its active key {stored.active!r} is not in it")
    return stored


def _derived(key: bytes, label: bytes) -> bytes:
    return HKDF(SHA256(), KEY_BYTES, salt=None, info=label).derive(key)


def _new_key_id() -> str:
    return f"k{secrets.token_hex(6)}"


def _new_key() -> str:
    return b64encode(secrets.token_bytes(KEY_BYTES)).decode()


def _header(key_id: str) -> bytes:
    name = key_id.encode()
    return bytes((VERSION, len(name))) + name


def _parsed(box: bytes) -> tuple[str, bytes]:
    if len(box) < 2 or box[0] != VERSION or len(box) < 2 + box[1] + NONCE_BYTES:
        raise SealBroken(f"{len(box)} bytes are no sealed box")
    header = box[: 2 + box[1]]
    try:
        return header[2:].decode("ascii"), header
    except UnicodeDecodeError:
        raise SealBroken(f"{len(box)} bytes are no sealed box") from None
