"""A change of the vault before it is stored: what it will hold, the new boxes, and those that it leaves behind."""

import secrets
from collections.abc import Iterable

from contracts.identity import SecretName, SecretRef, VaultDamaged, VaultUnusable, VersionConflict
from identity.document import Entry, Header, Index, Lock, WrappedKey, digest_of
from identity.opening import Opened
from identity.sealing import DataKey, SealBroken, about, seal, unseal, wipe

BOX_ID_BYTES = 16


class Draft:
    """Made from one generation, and good for the next one only."""

    def __init__(self, opened: Opened) -> None:
        self._vault_id = opened.header.vault_id
        self.entries: dict[SecretName, Entry] = dict(opened.entries)
        self.header: Header = opened.header.model_copy(update={"generation": opened.header.generation + 1})
        self.keys: dict[str, DataKey] = dict(opened.keys)
        self.boxes: dict[str, bytes] = {}
        self.gone: set[str] = set()
        self.changed = False

    @property
    def index(self) -> Index:
        return Index(entries=tuple(self.entries.values()))

    def put(self, name: SecretName, secret: bytearray, *, after: int | None = None, at_least: int = 1) -> SecretRef:
        """The next version, or `at_least` that one. Raises: VersionConflict."""
        before = self.entries.get(name)
        newest = before.version if before is not None and before.box_id else 0
        if after is not None and after != newest:
            raise VersionConflict(
                f"{name.kind} {name.name!r} of {name.profile_id!r} is at version {newest}, not at {after}"
            )
        version = max((before.version if before else 0) + 1, at_least)
        return self._sealed(name, version, secret)

    def remove(self, name: SecretName) -> bool:
        entry = self.entries.get(name)
        if entry is None or not entry.box_id:
            return False
        self._leave(entry)
        self.entries[name] = entry.model_copy(update={"key_id": "", "box_id": "", "digest": ""})
        self.changed = True
        return True

    def remove_profile(self, profile_id: str) -> int:
        """All of its secrets; give how many."""
        return sum(self.remove(name) for name in list(self.entries) if name.profile_id == profile_id)

    def reseal(self, entry: Entry, box: bytes) -> bool:
        """The same version with the active key; False if it has changed since. Raises: VaultDamaged."""
        if self.entries.get(entry.key) != entry:
            return False
        cipher = self.keys[entry.key_id].cipher(entry.kind)
        try:
            plain = unseal(cipher, box, about(self._vault_id, entry.key_id, entry.ref))
        except SealBroken as error:
            raise VaultDamaged(f"{entry.kind} {entry.name!r} of {entry.profile_id!r} does not open: {error}") from None
        try:
            self._sealed(entry.key, entry.version, plain)
        finally:
            wipe(plain)
        return True

    def begin_rotation(self, key: DataKey, wrapped: WrappedKey, lock: Lock) -> bool:
        """A new key seals from now on; False if a rotation is under way already.

        Raises: VaultUnusable if it is wrapped for another lock than the present one.
        """
        if len(self.header.keys) > 1:
            return False
        if lock != self.header.lock:
            raise VaultUnusable("the vault got another passphrase or master key meanwhile; rotate again")
        self.header = self.header.model_copy(update={"keys": (wrapped, *self.header.keys)})
        self.keys[key.key_id] = key
        return self._is_changed()

    def end_rotation(self) -> bool:
        """Drop the keys that seal nothing any more; False if one still does."""
        if any(entry.box_id and entry.key_id != self.header.active for entry in self.entries.values()):
            return False
        self.header = self.header.model_copy(update={"keys": self.header.keys[:1]})
        self.keys = {self.header.active: self.keys[self.header.active]}
        return self._is_changed()

    def relock(self, lock: Lock, wrapped: dict[str, str]) -> bool:
        """Keys as another master key has wrapped them; False if they are not all of them."""
        if set(wrapped) != {key.key_id for key in self.header.keys}:
            return False
        keys = tuple(WrappedKey(key_id=key.key_id, wrapped=wrapped[key.key_id]) for key in self.header.keys)
        self.header = self.header.model_copy(update={"lock": lock, "keys": keys})
        return self._is_changed()

    def sweep(self, box_ids: Iterable[str]) -> None:
        """Remove boxes that nothing names."""
        self.gone |= set(box_ids) - {entry.box_id for entry in self.entries.values()}
        self.changed = self.changed or bool(self.gone)

    def _sealed(self, name: SecretName, version: int, secret: bytearray) -> SecretRef:
        key = self.keys[self.header.active]
        ref = SecretRef(profile_id=name.profile_id, kind=name.kind, name=name.name, version=version)
        box = seal(key.cipher(name.kind), secret, about(self._vault_id, key.key_id, ref))
        if (before := self.entries.get(name)) is not None:
            self._leave(before)
        box_id = secrets.token_hex(BOX_ID_BYTES)
        self.boxes[box_id] = box
        self.entries[name] = Entry(
            profile_id=name.profile_id,
            kind=name.kind,
            name=name.name,
            version=version,
            key_id=key.key_id,
            box_id=box_id,
            digest=digest_of(box),
        )
        self.changed = True
        return ref

    def _leave(self, entry: Entry) -> None:
        if entry.box_id and self.boxes.pop(entry.box_id, None) is None:
            self.gone.add(entry.box_id)

    def _is_changed(self) -> bool:
        self.changed = True
        return True
