"""Between `unlock` and `lock`: the master key of a passphrase in a file that lies in memory only.

Every process of this user may open the vault meanwhile, as with an SSH agent. The folder must be of a file system that
is never on a disk; pages of it may still be swapped out, where swap is on and not encrypted.
"""

import asyncio
import hashlib
import os
from pathlib import Path

from contracts.identity import VaultLocked
from identity.document import Lock
from identity.files import is_private, replace_file
from identity.sealing import KEY_BYTES
from identity.unlocking import LocalKey

NAME_CHARACTERS = 12

_MEMORY = frozenset({"tmpfs", "ramfs"})


class Session:
    """Holds the keys of unlocked vaults, one file each."""

    def __init__(self, folder: Path, installation: str, mounts: Path = Path("/proc/mounts")) -> None:
        """A folder of this user's installation is made in `folder`; `mounts` says what file systems there are."""
        self._above = folder
        name = hashlib.sha256(installation.encode()).hexdigest()[:NAME_CHARACTERS]
        self._folder = folder / f"asos-{os.geteuid()}-{name}"
        self._mounts = mounts

    async def master_key(self, vault_id: str, lock: Lock) -> LocalKey:
        return LocalKey(await asyncio.to_thread(self._read, vault_id))

    def still_open(self, vault_id: str, lock: Lock) -> bool:
        return self._file(vault_id).exists()

    async def hold(self, vault_id: str, key: LocalKey) -> None:
        """Keep the key until `drop`. Raises: VaultLocked if the folder would keep it on a disk, or is another's."""
        await asyncio.to_thread(self._write, vault_id, key)

    async def drop(self) -> bool:
        """Overwrite and remove every key, whether or not the vault can be reached; False if there was none."""
        return await asyncio.to_thread(self._erase)

    def _file(self, vault_id: str) -> Path:
        return self._folder / vault_id

    def _read(self, vault_id: str) -> bytearray:
        try:
            if not is_private(self._file(vault_id)) or not self._is_ours():
                raise VaultLocked(f"{self._file(vault_id)} is open to others, or not yours; run `asos identity lock`")
            key = bytearray(KEY_BYTES)
            with self._file(vault_id).open("rb", buffering=0) as file:
                size = file.readinto(key)
        except OSError:
            raise VaultLocked("nobody has unlocked it: run `asos identity unlock`") from None
        if size != KEY_BYTES:
            raise VaultLocked("the key between unlock and lock is cut off: run `asos identity unlock` again")
        return key

    def _write(self, vault_id: str, key: LocalKey) -> None:
        if self._file_system() not in _MEMORY:
            raise VaultLocked(
                f"{self._above} is not a file system in memory, and the key shall be on no disk; "
                "name one with ASOS_VAULT_SESSION_FOLDER, or use the OS keyring or a key file"
            )
        try:
            self._folder.mkdir(mode=0o700, exist_ok=True)
            if not self._is_ours():
                raise VaultLocked(f"{self._folder} is open to others, or not yours; remove it")
            replace_file(self._file(vault_id), key.key)
        except OSError as error:
            raise VaultLocked(f"cannot hold the key in {self._folder}: {error.strerror}") from error

    def _erase(self) -> bool:
        if not self._folder.is_dir() or not self._is_ours():
            return False
        held = list(self._folder.iterdir())
        for path in held:
            with path.open("r+b", buffering=0) as file:
                file.write(bytes(KEY_BYTES))
            path.unlink()
        self._folder.rmdir()
        return bool(held)

    def _is_ours(self) -> bool:
        found = self._folder.lstat()
        return found.st_uid == os.geteuid() and not found.st_mode & 0o077 and not self._folder.is_symlink()

    def _file_system(self) -> str:
        """The type of the deepest mount that holds the folder; empty where that is not known."""
        folder = str(self._above.resolve())
        try:
            mounts = [line.split() for line in self._mounts.read_text().splitlines()]
        except OSError:
            return ""
        holding = [
            (len(point), number, kind)
            for number, (_, point, kind, *_) in enumerate(mounts)
            if folder == point or folder.startswith(point.rstrip("/") + "/")
        ]
        return max(holding)[2] if holding else ""
