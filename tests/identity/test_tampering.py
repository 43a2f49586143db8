"""What was altered, exchanged, taken away or put back is noticed; the long form tries 10,000 times."""

import base64
import itertools
import shutil
import sys
from pathlib import Path

import pytest

from contracts.identity import SecretKind, SecretName, VaultDamaged
from identity.document import Entry, header_of
from identity.sealing import about, seal
from tests.identity.bao_server import Server
from tests.identity.tampering import flip, outcome, swap
from tests.identity.vaults import Place, copied, in_bao, in_file, named, plain, removed

SEED = 20_265
SHORT, LONG = 120, 4_000
"""Flips of the file at rest and of one with a write-ahead file, and half as many swaps of rows."""

KINDS: tuple[SecretKind, ...] = ("password", "token", "cookies", "storage")


async def filled(place: Place) -> dict[SecretName, bytes]:
    secrets = {named(kind, name): f"{kind} {name}".encode() * 9 for kind in KINDS for name in ("one", "two")}
    async with place.made() as vault:
        for name, secret in secrets.items():
            await vault.put(name, bytearray(b"older"))
            await vault.put(name, bytearray(secret))
    return secrets


async def tampered(tmp_path: Path, count: int) -> None:
    place = in_file(tmp_path / "rest")
    secrets, path = await filled(place), tmp_path / "rest" / "vault.db"

    flips = await flip(place, path, secrets, count, SEED)
    swaps = await swap(place, path, secrets, count // 2, SEED)
    async with place.open() as vault:
        await vault.put(named("token", "one"), bytearray(secrets[named("token", "one")]))
        (tmp_path / "moving").mkdir()
        copied(path, tmp_path / "moving" / "vault.db")
    moving = in_file(tmp_path / "moving")
    moving.source = place.source
    shutil.copytree(place.head.parent, moving.head.parent)
    moved = await flip(moving, tmp_path / "moving" / "vault.db", secrets, count, SEED + 1)

    sys.stdout.write(f"flips: {dict(flips)}; with a write-ahead file: {dict(moved)}; swaps: {dict(swaps)}\n")
    assert [found["undetected"] for found in (flips, moved, swaps)] == [0, 0, 0]
    assert flips["noticed"] > count // 10
    assert swaps["noticed"] == count // 2
    assert await outcome(place, secrets) == "the same"


async def test_no_flipped_byte_and_no_exchanged_row_gives_anybody_something_else(tmp_path: Path) -> None:
    await tampered(tmp_path, SHORT)


@pytest.mark.slow
@pytest.mark.timeout(1_800)
async def test_ten_thousand_changes_give_nobody_something_else(tmp_path: Path) -> None:
    await tampered(tmp_path, LONG)


async def test_an_older_copy_of_the_file_is_noticed_by_others_and_by_who_has_it_open(tmp_path: Path) -> None:
    place, path = in_file(tmp_path), tmp_path / "vault.db"
    await filled(place)
    kept = tmp_path / "kept"
    kept.mkdir()
    copied(path, kept / "vault.db")
    async with place.open() as vault:
        await vault.put(named("token", "one"), bytearray(b"newer"))
    removed(path)
    copied(kept / "vault.db", path)

    async with place.open() as vault:
        with pytest.raises(VaultDamaged, match="older copy"):
            await plain(vault, named("token", "one"))
        with pytest.raises(VaultDamaged, match="older copy"):
            await vault.put(named("token", "one"), bytearray(b"over it"))


async def test_a_store_that_is_empty_all_at_once_is_not_taken_for_a_new_one(tmp_path: Path) -> None:
    place = in_file(tmp_path)
    await filled(place)
    removed(tmp_path / "vault.db")

    async with place.open() as vault:
        with pytest.raises(VaultDamaged, match="held a vault before"):
            await vault.current()


async def test_two_generations_of_one_number_are_not_mistaken_for_each_other(tmp_path: Path) -> None:
    place, path = in_file(tmp_path), tmp_path / "vault.db"
    await filled(place)
    kept = tmp_path / "kept"
    shutil.copytree(tmp_path, kept, ignore=shutil.ignore_patterns("kept"))
    other = in_file(kept)
    other.source = place.source
    async with place.open() as vault, other.open() as fork:
        await vault.put(named("token", "one"), bytearray(b"ours"))
        await fork.put(named("token", "one"), bytearray(b"theirs"))
    removed(path)
    copied(kept / "vault.db", path)

    async with place.open() as vault:
        with pytest.raises(VaultDamaged, match="another generation"):
            await plain(vault, named("token", "one"))


def test_a_box_is_bound_to_profile_kind_name_version_vault_and_key() -> None:
    entry = Entry(profile_id="a", kind="token", name="b", version=1)
    others = [
        entry.model_copy(update=change)
        for change in ({"profile_id": "c"}, {"kind": "client"}, {"name": "c"}, {"version": 2})
    ]

    bound = [about("v", "k", each.ref) for each in (entry, *others)] + [
        about("w", "k", entry.ref),
        about("v", "l", entry.ref),
    ]

    assert all(one != other for one, other in itertools.combinations(bound, 2))


async def test_what_the_server_of_the_store_alters_or_puts_back_is_noticed(bao: Server, tmp_path: Path) -> None:
    place = in_bao(tmp_path, bao)
    secrets = await filled(place)
    store = await place.store()
    folder = store.place.rpartition("secret/")[2]
    old = await store.document()
    assert old is not None
    async with place.open() as vault:
        one, other = [entry.box_id for entry in (await vault.current()).living()][:2]

    found = []
    with bao.root() as root:
        kv = root.secrets.kv.v2
        paths = [f"{folder}/boxes/{each}" for each in (one, other)]
        values = [kv.read_secret_version(path, raise_on_deleted_version=True)["data"]["data"] for path in paths]
        for path, value in zip(paths, reversed(values), strict=True):
            kv.create_or_update_secret(path, value)
        found.append(await outcome(place, secrets))
        for path, value in zip(paths, values, strict=True):
            kv.create_or_update_secret(path, value)
        found.append(await outcome(place, secrets))
        async with place.open() as vault:
            await vault.put(named("token", "new"), bytearray(b"newer"))
        content = base64.b64encode(old.content).decode()
        kv.create_or_update_secret(f"{folder}/document", {"content": content}, cas=old.stamp + 1)
        async with place.open() as vault:
            with pytest.raises(VaultDamaged, match="older copy"):
                await vault.current()
    await store.close()

    assert found == ["noticed", "the same"]


async def test_who_writes_a_box_with_a_key_of_his_own_is_noticed(tmp_path: Path) -> None:
    place = in_file(tmp_path)
    await filled(place)
    async with place.open() as vault:
        opened = await vault.current()
    header = header_of(opened.document.content)
    entry = opened.living()[0]
    forged = seal(
        opened.keys[header.active].cipher(entry.kind), b"older", about(header.vault_id, header.active, entry.ref)
    )

    store = await place.store()
    await store.commit(opened.document.content, opened.document.stamp, {}, [entry.box_id])
    await store.commit(opened.document.content, opened.document.stamp + 1, {entry.box_id: forged}, ())
    await store.close()

    async with place.open() as vault:
        with pytest.raises(VaultDamaged, match="was altered, exchanged or is older"):
            await plain(vault, entry.key)
