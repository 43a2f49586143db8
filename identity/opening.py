"""Open the vault's document: unwrap its keys, and read its index."""

import binascii
import json
from dataclasses import dataclass

from contracts.identity import SecretName, VaultDamaged
from identity.document import Entry, Header, bytes_of, header_of, index_of
from identity.sealing import DataKey, SealBroken, about, unseal
from identity.stores.store import Document
from identity.unlocking import MasterKey


@dataclass(frozen=True)
class Opened:
    """One generation of the vault, with its keys."""

    header: Header
    entries: dict[SecretName, Entry]
    keys: dict[str, DataKey]
    document: Document

    def entry(self, name: SecretName) -> Entry | None:
        return self.entries.get(name)

    def living(self) -> list[Entry]:
        """Those that were not removed."""
        return [entry for entry in self.entries.values() if entry.box_id]


async def opened_document(document: Document, master: MasterKey, known: dict[str, DataKey]) -> Opened:
    """With the keys that are known already. Raises: WrongKey, VaultDamaged, VaultUnusable."""
    header = header_of(document.content)
    keys = {}
    for wrapped in header.keys:
        keys[wrapped.key_id] = known.get(wrapped.key_id) or await _unwrapped(
            header, wrapped.wrapped, wrapped.key_id, master
        )
    index = index_of(document.content, keys[header.active])
    strange = {entry.key_id for entry in index.entries if entry.box_id} - set(keys)
    if strange:
        raise VaultDamaged(f"the vault's index names the keys {sorted(strange)}, which its header lacks")
    return Opened(header, {entry.key: entry for entry in index.entries}, keys, document)


def key_about(vault_id: str, key_id: str) -> bytes:
    """What a wrapped key is bound to."""
    return json.dumps([1, "key", vault_id, key_id]).encode()


def unsealed(opened: Opened, entry: Entry, box: bytes | None) -> bytearray:
    """Raises: VaultDamaged."""
    what = f"{entry.kind} {entry.name!r} of {entry.profile_id!r}, version {entry.version}"
    if box is None:
        raise VaultDamaged(f"{what} is gone from the store; import your newest backup")
    if not entry.fits(box):
        raise VaultDamaged(f"{what} was altered, exchanged or is older than it should be; import your newest backup")
    key = opened.keys[entry.key_id]
    try:
        return unseal(key.cipher(entry.kind), box, about(opened.header.vault_id, entry.key_id, entry.ref))
    except SealBroken as error:
        raise VaultDamaged(f"{what} does not open: {error}; import your newest backup") from None


async def _unwrapped(header: Header, wrapped: str, key_id: str, master: MasterKey) -> DataKey:
    try:
        content = bytes_of(wrapped)
    except (binascii.Error, ValueError):
        raise VaultDamaged(f"the wrapped key {key_id} cannot be read; import your newest backup") from None
    return DataKey(key_id, await master.unwrap(content, key_about(header.vault_id, key_id)))
