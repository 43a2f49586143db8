"""Give the vault a new data key while it is in use, in small steps that may be interrupted anywhere."""

import asyncio
from collections.abc import Callable

from contracts.identity import VaultDamaged
from identity.document import Entry
from identity.sealing import DataKey
from identity.stores.store import Store
from identity.vault import SealedVault

STEP = 16
"""How many secrets are sealed anew in one change."""

Progress = Callable[[int, int], None]


async def rotate(vault: SealedVault, store: Store, progress: Progress = lambda done, of: None) -> int:
    """Seal everything with a new key, and forget the old one; an interrupted rotation is finished. Give how many.

    Others read and write meanwhile. Raises: VaultLocked, VaultDamaged, VaultUnusable.
    """
    key = DataKey.new()
    wrapped, lock = await vault.wrapped_key(key)
    if not await vault.change(lambda draft: draft.begin_rotation(key, wrapped, lock)):
        key.forget()
    done = 0
    while True:
        opened = await vault.current()
        left = [entry for entry in opened.living() if entry.key_id != opened.header.active]
        if not left and await vault.change(lambda draft: draft.end_rotation()):
            break
        done += await _step(vault, store, left[:STEP])
        progress(done, done + max(len(left) - STEP, 0))
        await asyncio.sleep(0)  # others that wait for the vault come in between
    for old in set(opened.keys) - {opened.header.active}:
        opened.keys[old].forget()
    await vault.erase_traces()
    return done


async def _step(vault: SealedVault, store: Store, entries: list[Entry]) -> int:
    boxes: dict[str, bytes] = {}
    for entry in entries:
        box = await store.box(entry.box_id)
        what = f"{entry.kind} {entry.name!r} of {entry.profile_id!r}"
        if box is not None and entry.fits(box):
            boxes[entry.box_id] = box
        elif (await vault.current()).entry(entry.key) == entry:  # else somebody has changed it meanwhile
            raise VaultDamaged(f"{what} was altered or taken away; the rotation waits until it is mended or removed")
    return await vault.change(
        lambda draft: sum(draft.reseal(entry, boxes[entry.box_id]) for entry in entries if entry.box_id in boxes)
    )
