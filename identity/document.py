"""The vault's one document: a readable header with wrapped keys, and the sealed index of all boxes.

The header is bound to the index as associated data, so that neither can be changed or exchanged alone.
"""

import base64
import hashlib
import secrets
from typing import Literal

from pydantic import Field, ValidationError

from contracts.identity import NAME_PATTERN, PROFILE_ID, SecretKind, SecretName, SecretRef, VaultDamaged
from contracts.values import Value
from identity.sealing import DataKey, SealBroken, seal, unseal, wipe

SEPARATOR = b"\n"
LOCK_ID_BYTES = 8


LockKind = Literal["passphrase", "keyring", "file", "transit"]


class Argon(Value):
    """How slowly a passphrase becomes a key: the costs of Argon2id, and its salt."""

    salt: str = Field(pattern=r"^[0-9a-f]{32}$")
    iterations: int = Field(default=3, ge=1, le=64)
    memory_kib: int = Field(default=65_536, ge=64, le=1_048_576)
    lanes: int = Field(default=4, ge=1, le=64)

    def weaker_than(self, other: "Argon") -> bool:
        return self.iterations < other.iterations or self.memory_kib < other.memory_kib


class Lock(Value):
    """What opens the vault."""

    kind: LockKind
    argon: Argon | None = None
    """Of a passphrase."""
    key_name: str = ""
    """Of the transit engine's key."""
    lock_id: str = Field(default_factory=lambda: secrets.token_hex(LOCK_ID_BYTES))
    """Another one with each new master key, so that nobody wraps with a former one."""


class WrappedKey(Value):
    """A data key as the master key has sealed it."""

    key_id: str
    wrapped: str


class Header(Value):
    """What may be read while the vault is locked."""

    form: Literal[1] = 1
    vault_id: str
    generation: int = Field(ge=1)
    """One more with each change."""
    lock: Lock
    keys: tuple[WrappedKey, ...]
    """The first one seals; further ones only open what a rotation has not yet reached."""

    @property
    def active(self) -> str:
        return self.keys[0].key_id


class Entry(Value):
    """One secret: which version is the newest, and in which box it lies. Without a box it was removed."""

    profile_id: str = Field(pattern=PROFILE_ID)
    kind: SecretKind
    name: str = Field(pattern=NAME_PATTERN)
    version: int = Field(ge=1)
    key_id: str = ""
    box_id: str = ""
    digest: str = ""

    @property
    def key(self) -> SecretName:
        return SecretName(profile_id=self.profile_id, kind=self.kind, name=self.name)

    @property
    def ref(self) -> SecretRef:
        return SecretRef(profile_id=self.profile_id, kind=self.kind, name=self.name, version=self.version)

    def fits(self, box: bytes) -> bool:
        return digest_of(box) == self.digest


class Index(Value):
    """All entries. Removed ones stay, so that a version number never means two things."""

    entries: tuple[Entry, ...] = ()


def digest_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def header_of(content: bytes) -> Header:
    """Raises: VaultDamaged."""
    line, separator, _ = content.partition(SEPARATOR)
    try:
        header = Header.model_validate_json(line)
    except ValidationError:
        raise VaultDamaged("the vault's header cannot be read; import your newest backup") from None
    if not separator or not header.keys:
        raise VaultDamaged("the vault's header is cut off; import your newest backup")
    return header


def sealed_document(header: Header, index: Index, key: DataKey) -> bytes:
    line = header.model_dump_json().encode()
    plain = bytearray(index.model_dump_json().encode())
    try:
        return line + SEPARATOR + seal(key.index, plain, line)
    finally:
        wipe(plain)


def index_of(content: bytes, key: DataKey) -> Index:
    """Raises: VaultDamaged."""
    line, _, box = content.partition(SEPARATOR)
    try:
        plain = unseal(key.index, box, line)
    except SealBroken as error:
        raise VaultDamaged(f"the vault's index does not open: {error}; import your newest backup") from None
    try:
        return Index.model_validate_json(plain)
    finally:
        wipe(plain)


def text_of(wrapped: bytes) -> str:
    return base64.b64encode(wrapped).decode("ascii")


def bytes_of(wrapped: str) -> bytes:
    """Raises: ValueError."""
    return base64.b64decode(wrapped, validate=True)
