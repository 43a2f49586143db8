"""Backups: what can go wrong is told apart, and loses nothing."""

import os
import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from contracts.identity import VaultUnusable
from identity.backup import BackupOlder, BackupUnusable, Restored, export, restore
from identity.rotation import rotate
from tests.identity.vaults import CHEAP, Place, in_file, named, plain

PASSPHRASE = b"of the backup"


@pytest.fixture
def other(tmp_path: Path) -> Place:
    return in_file(tmp_path / "other")


async def filled(place: Place, file: Path) -> None:
    async with place.made() as vault:
        await vault.put(named("token"), bytearray(b"older"))
        await vault.put(named("token"), bytearray(b"token"))
        await vault.put(named("cookies"), bytearray(b"cookies"))
        assert await export(vault, file, bytearray(PASSPHRASE), CHEAP) == 2


async def test_a_backup_comes_back_in_another_store_with_its_versions(
    place: Place, other: Place, tmp_path: Path
) -> None:
    file = tmp_path / "backup"
    await filled(place, file)

    async with other.made() as vault:
        found = await restore(vault, file, bytearray(PASSPHRASE))

        assert found == Restored(2, 0)
        assert await plain(vault, named("token"), 2) == b"token"
        assert await plain(vault, named("cookies"), 1) == b"cookies"
        assert await restore(vault, file, bytearray(PASSPHRASE), older=True) == Restored(2, 2)
    assert b"cookies" not in file.read_bytes()
    assert file.stat().st_mode & 0o777 == 0o600


async def test_what_the_backup_does_not_hold_stays_and_no_version_means_two_things(tmp_path: Path) -> None:
    place, file = in_file(tmp_path), tmp_path / "backup"
    await filled(place, file)

    async with place.open() as vault:
        await vault.put(named("api_key"), bytearray(b"since"))
        await vault.put(named("token"), bytearray(b"newer"))
        with pytest.raises(BackupOlder, match="older than the vault"):
            await restore(vault, file, bytearray(PASSPHRASE))
        assert await plain(vault, named("token"), 3) == b"newer"

        await restore(vault, file, bytearray(PASSPHRASE), older=True)

        assert await plain(vault, named("token"), 4) == b"token"
        assert await plain(vault, named("api_key")) == b"since"


async def test_the_backup_of_another_vault_is_not_put_over_this_one(tmp_path: Path, other: Place) -> None:
    file = tmp_path / "backup"
    await filled(in_file(tmp_path), file)

    async with other.made() as vault:
        await vault.put(named("token"), bytearray(b"ours"))
        with pytest.raises(BackupOlder, match="of another vault"):
            await restore(vault, file, bytearray(PASSPHRASE))
        assert await plain(vault, named("token")) == b"ours"


async def test_a_wrong_passphrase_changes_nothing(tmp_path: Path, other: Place) -> None:
    file = tmp_path / "backup"
    await filled(in_file(tmp_path), file)

    async with other.made() as vault:
        with pytest.raises(BackupUnusable, match="passphrase is wrong"):
            await restore(vault, file, bytearray(b"another one"))
        assert await vault.profile_ids() == []


async def test_no_flipped_bit_of_a_backup_comes_back(tmp_path: Path, other: Place) -> None:
    file = tmp_path / "backup"
    await filled(in_file(tmp_path), file)
    whole = file.read_bytes()

    async with other.made() as vault:
        for at in range(0, len(whole), 5):
            changed = bytearray(whole)
            changed[at] ^= 1 << at % 8
            file.write_bytes(changed)
            if b'"memory_kib":64,' not in changed or b'"iterations":1,' not in changed:
                continue  # a flipped cost makes the passphrase dear, and the test slow
            with pytest.raises(BackupUnusable):
                await restore(vault, file, bytearray(PASSPHRASE))
        file.write_bytes(whole[:-1])
        with pytest.raises(BackupUnusable):
            await restore(vault, file, bytearray(PASSPHRASE))
        assert await vault.profile_ids() == []


async def test_on_a_full_disk_the_former_backup_and_the_vault_stay_as_they_are(tmp_path: Path) -> None:
    place, file = in_file(tmp_path), tmp_path / "backup"
    await filled(place, file)
    before = file.read_bytes()

    async with place.open() as vault:
        await vault.put(named("storage"), bytearray(100_000))
        with full_after(60_000), pytest.raises(VaultUnusable, match="backup"):
            await export(vault, file, bytearray(PASSPHRASE), CHEAP)
        with full_after(60_000), pytest.raises(VaultUnusable, match=r"vault\.db"):
            await vault.put(named("token"), bytearray(200_000))

        assert await plain(vault, named("token")) == b"token"
        await vault.put(named("token"), bytearray(b"room again"))
        store = await place.store()
        with full_after(1_000), pytest.raises(VaultUnusable):
            await rotate(vault, store)
        await store.close()
        assert await plain(vault, named("token")) == b"room again"

    assert file.read_bytes() == before
    assert not any(name.endswith(".part") for name in os.listdir(tmp_path))  # noqa: PTH208  pathlib is refused here


@contextmanager
def full_after(size: int) -> Iterator[None]:
    """No file of this process grows beyond it; the system answers as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
