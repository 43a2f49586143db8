"""The head: outside the store, which generation of the vault is the newest, so that an older copy is noticed.

It is written after the store. A crash in between leaves a head that knows of less than there is, which is no sign of an
older copy; the next one who looks moves it on.
"""

import asyncio
import fcntl
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pydantic import ValidationError

from contracts.identity import VaultDamaged, VaultUnusable
from contracts.values import Value
from identity.files import replace_file
from identity.sealing import DataKey


class Head(Value):
    """The newest generation that was seen."""

    vault_id: str
    generation: int
    digest: str
    """Of the whole document."""
    key_id: str
    mac: str = ""

    @property
    def statement(self) -> bytes:
        return self.model_copy(update={"mac": ""}).model_dump_json().encode()


class OlderCopy(VaultDamaged):
    """Raised when the head knows of a newer generation: an older copy, unless the newer one has just come."""


class HeadFile:
    """Best on another disk than the store: who can put back both, and only both, is not noticed."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @property
    def path(self) -> Path:
        return self._path

    async def check(self, seen: Head, keys: dict[str, DataKey]) -> None:
        """Compare what the store holds with the head, and move it on. Raises: VaultDamaged, VaultUnusable."""
        await asyncio.to_thread(self._checked, seen, keys)

    async def advance(self, stored: Head, keys: dict[str, DataKey]) -> None:
        """Note what was just stored, unless others have stored more. Raises: VaultDamaged, VaultUnusable."""
        with suppress(OlderCopy):
            await self.check(stored, keys)

    async def trust(self, seen: Head, key: DataKey) -> None:
        """Take what the store holds for the newest, whatever the head says. Raises: VaultUnusable."""
        await asyncio.to_thread(self._trusted, seen, key)

    def _checked(self, seen: Head, keys: dict[str, DataKey]) -> None:
        with self._held():
            known = self._read(keys)
            if known.vault_id != seen.vault_id:
                raise VaultDamaged(f"{self._path} is of another vault; see `asos identity doctor`")
            if seen.generation < known.generation:
                raise OlderCopy(
                    f"the store is an older copy: it holds generation {seen.generation}, and {known.generation} was "
                    "there before; bring the newer one back, or import a backup"
                )
            if seen.generation == known.generation and seen.digest != known.digest:
                raise VaultDamaged(
                    f"the store holds another generation {seen.generation} than the one that was written; bring that "
                    "one back, or import a backup"
                )
            if seen.generation > known.generation or seen.key_id != known.key_id:
                self._write(seen, keys[seen.key_id])

    def _trusted(self, seen: Head, key: DataKey) -> None:
        with self._held():
            self._write(seen, key)

    def _read(self, keys: dict[str, DataKey]) -> Head:
        remedy = (
            "if you have moved the vault yourself, or several machines share it and this one is new, "
            "`asos identity doctor --trust` takes what the store holds for the newest"
        )
        try:
            head = Head.model_validate_json(self._path.read_bytes())
        except FileNotFoundError:
            raise VaultDamaged(
                f"{self._path} is missing, so that an older copy would not be noticed; {remedy}"
            ) from None
        except ValidationError:
            raise VaultDamaged(f"{self._path} is damaged; {remedy}") from None
        key = keys.get(head.key_id)
        if key is None:
            raise VaultDamaged(f"{self._path} was written with a key that this vault does not have; {remedy}")
        if not key.verifies(head.statement, head.mac):
            raise VaultDamaged(f"{self._path} was altered; {remedy}")
        return head

    def _write(self, seen: Head, key: DataKey) -> None:
        unsigned = seen.model_copy(update={"key_id": key.key_id, "mac": ""})
        signed = unsigned.model_copy(update={"mac": key.signs(unsigned.statement)})
        replace_file(self._path, signed.model_dump_json().encode())

    @contextmanager
    def _held(self) -> Iterator[None]:
        """One process at a time, so that the head never goes back."""
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with self._path.with_name(f"{self._path.name}.lock").open("a") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                yield
        except OSError as error:
            raise VaultUnusable(
                f"cannot use {self._path}: {error.strerror}; make room there, or make it writable for you"
            ) from error
