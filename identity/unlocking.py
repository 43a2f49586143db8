"""Where the master key comes from: a passphrase, the OS keyring, a file for servers; OpenBao's is in `transit`.

The master key only wraps the vault's data keys. Whoever asks while it is not there gets VaultLocked, and waits.
"""

import asyncio
import base64
import binascii
import importlib
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol, Self

from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.argon2 import Argon2id

from contracts.identity import VaultLocked
from identity.document import Argon, Lock, LockKind
from identity.files import is_private, replace_file
from identity.sealing import KEY_BYTES, SealBroken, new_key, seal, unseal, wipe

SALT_BYTES = 16
SERVICE = "asos vault"
"""Under which name the OS keyring has the key."""


class WrongKey(Exception):
    """Raised when the passphrase or key is not that of the vault, or a wrapped key was altered."""


class MasterKey(Protocol):
    """Wraps data keys."""

    async def wrap(self, key: bytearray, bound_to: bytes) -> bytes:
        """Raises: VaultUnusable."""
        ...

    async def unwrap(self, wrapped: bytes, bound_to: bytes) -> bytearray:
        """Raises: WrongKey, VaultUnusable."""
        ...

    def forget(self) -> None: ...


class LocalKey:
    """A master key in this process's memory."""

    def __init__(self, key: bytearray) -> None:
        """Takes `key` over."""
        self._key = key
        self._forgotten = False

    @classmethod
    def new(cls) -> Self:
        return cls(new_key())

    @property
    def key(self) -> bytearray:
        """The key itself, not a copy. Raises: VaultLocked once it is forgotten."""
        if self._forgotten:
            raise VaultLocked("the vault was locked meanwhile")
        return self._key

    async def wrap(self, key: bytearray, bound_to: bytes) -> bytes:
        return seal(AESGCM(self.key), key, bound_to)

    async def unwrap(self, wrapped: bytes, bound_to: bytes) -> bytearray:
        try:
            return unseal(AESGCM(self.key), wrapped, bound_to)
        except SealBroken:
            raise WrongKey("this is not the vault's passphrase or key, or the vault's header was altered") from None

    def forget(self) -> None:
        self._forgotten = True
        wipe(self._key)


class KeySource(Protocol):
    """What a vault asks for its master key whenever it is locked."""

    async def master_key(self, vault_id: str, lock: Lock) -> MasterKey:
        """Raises: VaultLocked if it is not to be had now; the text says how to change that."""
        ...

    def still_open(self, vault_id: str, lock: Lock) -> bool:
        """False once somebody has locked the vault; asked before each use."""
        ...


class BySource:
    """Asks the source for the kind of lock that the vault has."""

    def __init__(self, sources: Mapping[LockKind, KeySource]) -> None:
        self._sources = sources

    async def master_key(self, vault_id: str, lock: Lock) -> MasterKey:
        return await self._of(lock).master_key(vault_id, lock)

    def still_open(self, vault_id: str, lock: Lock) -> bool:
        return self._of(lock).still_open(vault_id, lock)

    def _of(self, lock: Lock) -> KeySource:
        """Raises: VaultLocked."""
        source = self._sources.get(lock.kind)
        if source is None:
            raise VaultLocked(f"the vault opens by {lock.kind}, and ASOS_VAULT_ADDRESS names no server for it")
        return source


def new_argon(costs: Argon | None = None) -> Argon:
    """The costs of today, or those given, with a salt of their own."""
    salt = secrets.token_hex(SALT_BYTES)
    return costs.model_copy(update={"salt": salt}) if costs else Argon(salt=salt)


async def from_passphrase(passphrase: bytearray, argon: Argon) -> LocalKey:
    """Derive the key, which takes a while on purpose; the passphrase stays the caller's to wipe."""
    key = bytearray(KEY_BYTES)
    kdf = Argon2id(
        salt=bytes.fromhex(argon.salt),
        length=KEY_BYTES,
        iterations=argon.iterations,
        lanes=argon.lanes,
        memory_cost=max(argon.memory_kib, 8 * argon.lanes),
    )
    await asyncio.to_thread(kdf.derive_into, passphrase, key)  # type: ignore[arg-type]  # it takes any buffer
    return LocalKey(key)


class FileKey:
    """A file for servers, such as one that systemd's credentials or an orchestrator's secrets give."""

    def __init__(self, path: Path | None) -> None:
        self._path = path

    async def master_key(self, vault_id: str, lock: Lock) -> LocalKey:
        return LocalKey(_decoded(await asyncio.to_thread(self._content), str(self._path)))

    def still_open(self, vault_id: str, lock: Lock) -> bool:
        return self._path is not None and self._path.exists()

    async def make(self) -> LocalKey:
        """A new key in a new file. Raises: OSError, FileExistsError."""
        if self._path is None:
            raise FileNotFoundError("ASOS_VAULT_KEY_FILE names no file")
        if self._path.exists():
            raise FileExistsError(f"{self._path} exists; it may hold the key of another vault")
        key = LocalKey.new()
        await asyncio.to_thread(replace_file, self._path, base64.b64encode(key.key))
        return key

    def _content(self) -> bytes:
        if self._path is None:
            raise VaultLocked("the vault's key is in a file, and ASOS_VAULT_KEY_FILE names none")
        try:
            if not is_private(self._path):
                raise VaultLocked(f"{self._path} is open to others, or not yours; run `chmod 600 {self._path}`")
            return self._path.read_bytes()
        except OSError as error:
            raise VaultLocked(f"cannot read the vault's key in {self._path}: {error.strerror}") from error


class OsKeyring:
    """The keyring of the desktop; its library hands the key over as a string, which Python cannot wipe."""

    async def master_key(self, vault_id: str, lock: Lock) -> LocalKey:
        found = await asyncio.to_thread(_keyring_call, "get_password", SERVICE, vault_id)
        if not isinstance(found, str):
            raise VaultLocked("the OS keyring has no key of this vault; was it made by another user or machine?")
        return LocalKey(_decoded(found.encode(), "the OS keyring"))

    def still_open(self, vault_id: str, lock: Lock) -> bool:
        return True

    async def make(self, vault_id: str) -> LocalKey:
        """A new key in the keyring. Raises: VaultLocked if there is no keyring."""
        key = LocalKey.new()
        text = base64.b64encode(key.key).decode()
        await asyncio.to_thread(_keyring_call, "set_password", SERVICE, vault_id, text)
        return key


def _keyring_call(name: str, *arguments: str) -> object:
    """Raises: VaultLocked."""
    try:
        # Not at the top: the library is optional, and looks for the desktop's services when it is loaded.
        keyring = importlib.import_module("keyring")
        errors = importlib.import_module("keyring.errors")
    except ImportError:
        raise VaultLocked(
            "the OS keyring needs the library `keyring`: install `agent-sandbox-os[keyring]`, "
            "or open the vault with a passphrase"
        ) from None
    try:
        return getattr(keyring, name)(*arguments)
    except errors.KeyringError as error:
        raise VaultLocked(f"the OS keyring does not answer: {error}; unlock it, or use a passphrase") from None


def _decoded(text: bytes, place: str) -> bytearray:
    """Raises: VaultLocked."""
    try:
        key = bytearray(base64.b64decode(text.strip(), validate=True))
    except binascii.Error:
        key = bytearray()
    if len(key) != KEY_BYTES:
        raise VaultLocked(f"{place} holds no key of {KEY_BYTES} bytes in base64; restore it from your backup")
    return key
