"""What every vault does, whatever its store."""

import asyncio
from pathlib import Path

import pytest

from contracts.identity import NoSuchSecret, SecretKind, SecretName, VaultDamaged, VaultLocked, VersionConflict
from identity.document import Lock
from identity.rotation import rotate
from identity.sealing import DataKey, SealBroken, about, unseal
from identity.stores.store import Overtaken
from identity.unlocking import LocalKey
from identity.vault import new_vault_id
from tests.identity.vaults import Place, in_file, named, plain

KINDS: tuple[SecretKind, ...] = ("password", "api_key", "token", "cookies", "storage", "client", "totp")


async def test_what_is_put_in_comes_out_in_another_process(place: Place) -> None:
    async with place.made() as vault:
        for kind in KINDS:
            await vault.put(named(kind), bytearray(f"secret {kind}", "utf-8"))

    async with place.open() as again:
        found = {kind: await plain(again, named(kind)) for kind in KINDS}

    assert found == {kind: f"secret {kind}".encode() for kind in KINDS}


async def test_plain_text_is_wiped_where_it_was_given_and_where_it_was_opened(place: Place) -> None:
    secret = bytearray(b"hunter2 hunter2")

    async with place.made() as vault:
        await vault.put(named("password"), secret)
        async with vault.opened(named("password")) as opened:
            assert opened == b"hunter2 hunter2"

    assert secret == opened == bytes(15)


async def test_each_put_is_the_next_version_and_only_the_newest_opens(place: Place) -> None:
    async with place.made() as vault:
        first = await vault.put(named("token"), bytearray(b"one"))
        second = await vault.put(named("token"), bytearray(b"two"), after=first.version)

        assert (first.version, second.version, await vault.version(named("token"))) == (1, 2, 2)
        assert await plain(vault, named("token"), 2) == b"two"
        with pytest.raises(NoSuchSecret, match="version 1 was asked for"):
            await plain(vault, named("token"), 1)


async def test_a_put_after_a_version_that_is_no_longer_the_newest_is_refused(place: Place) -> None:
    late = bytearray(b"late")

    async with place.made() as vault:
        await vault.put(named("token"), bytearray(b"one"), after=0)
        with pytest.raises(VersionConflict, match="at version 1, not at 0"):
            await vault.put(named("token"), late, after=0)

        assert await plain(vault, named("token")) == b"one"
    assert late == bytes(4)


async def test_a_removed_secret_is_gone_and_its_versions_are_not_used_again(place: Place) -> None:
    async with place.made() as vault:
        await vault.put(named("password"), bytearray(b"old"))

        assert await vault.remove(named("password"))
        assert not await vault.remove(named("password"))
        assert await vault.version(named("password")) == 0
        with pytest.raises(NoSuchSecret):
            await plain(vault, named("password"))
        assert (await vault.put(named("password"), bytearray(b"new"), after=0)).version == 2


async def test_names_are_those_of_one_profile(place: Place) -> None:
    async with place.made() as vault:
        for name in (named("token"), named("api_key", "ci"), named("password", profile_id="slack")):
            await vault.put(name, bytearray(b"x"))

        assert [each async for each in vault.names("github")] == [named("token"), named("api_key", "ci")]
        assert await vault.profile_ids() == ["github", "slack"]


async def test_writers_of_two_processes_lose_nothing(place: Place) -> None:
    async with place.made() as one, place.open() as other:
        puts = [
            vault.put(named("token", f"{who}-{number}"), bytearray(b"x"))
            for who, vault in (("a", one), ("b", other))
            for number in range(8)
        ]
        both = [vault.put(named("token", "shared"), bytearray(b"y")) for vault in (one, other) for _ in range(4)]
        refs = await asyncio.gather(*puts, *both)

        assert sorted(ref.version for ref in refs if ref.name == "shared") == list(range(1, 9))
        assert len([each async for each in one.names("github")]) == 17


async def test_of_two_that_store_after_the_same_version_one_wins(place: Place) -> None:
    async with place.made() as one, place.open() as other:
        outcomes = await asyncio.gather(
            *(vault.put(named("token"), bytearray(b"x"), after=0) for vault in (one, other)), return_exceptions=True
        )

        assert sum(isinstance(each, VersionConflict) for each in outcomes) == 1
        assert await one.version(named("token")) == 1


async def test_a_locked_vault_says_so_and_opens_by_itself_when_the_key_is_back(place: Place) -> None:
    async with place.made() as vault:
        await vault.put(named("token"), bytearray(b"one"))

        place.source.open = False
        states = [vault.locked]
        place.source.open = True
        states.append(vault.locked)

        assert states == [True, False]
        assert await plain(vault, named("token")) == b"one"


async def test_a_key_of_another_vault_opens_nothing(place: Place) -> None:
    async with place.made() as vault:
        await vault.put(named("token"), bytearray(b"one"))
    place.source.key = bytes(32)

    async with place.open() as again:
        with pytest.raises(VaultLocked, match="does not open the vault"):
            await plain(again, named("token"))


async def test_no_second_vault_is_made_over_the_first(place: Place) -> None:
    async with place.made() as vault:
        with pytest.raises(VersionConflict, match="holds a vault already"):
            await vault.make(new_vault_id(), Lock(kind="file"), LocalKey.new())


async def test_a_missing_head_is_told_and_trusted_only_on_request(place: Place) -> None:
    async with place.made() as vault:
        await vault.put(named("token"), bytearray(b"one"))
    place.head.unlink()

    async with place.open() as again:
        with pytest.raises(VaultDamaged, match="is missing"):
            await plain(again, named("token"))
        await again.unlock(trust=True)
        assert await plain(again, named("token")) == b"one"


async def test_killed_between_store_and_head_the_vault_opens_and_the_head_follows(place: Place) -> None:
    async with place.made() as vault:
        before = place.head_bytes()
        await vault.put(named("token"), bytearray(b"one"))
    after = place.head_bytes()
    place.put_head(before)

    async with place.open() as again:
        assert await plain(again, named("token")) == b"one"

    assert place.head_bytes() == after


async def test_a_rotation_stops_at_a_box_that_is_gone(place: Place) -> None:
    async with place.made() as vault:
        await vault.put(named("token"), bytearray(b"one"))
        opened = await vault.current()
        store = await place.store()
        await store.commit(opened.document.content, opened.document.stamp, {}, [opened.living()[0].box_id])

        with pytest.raises(VaultDamaged, match="taken away"):
            await rotate(vault, store)
        await vault.remove(named("token"))
        assert await rotate(vault, store) == 0
        await store.close()


async def test_after_a_rotation_the_old_key_opens_nothing_and_all_is_there(place: Place) -> None:
    names = [named("token" if number % 2 else "cookies", f"n{number}") for number in range(20)]
    async with place.made() as vault, place.open() as reader:
        for name in names:
            await vault.put(name, bytearray(name.name.encode()))
        old = await vault.current()
        kept = DataKey(old.header.active, bytearray(old.keys[old.header.active].key))
        store = await place.store()
        seen: list[int] = []

        async def read_on() -> None:
            while len(seen) < 40:
                assert await plain(reader, names[len(seen) % 20]) == names[len(seen) % 20].name.encode()
                seen.append(1)

        count, _ = await asyncio.gather(rotate(vault, store), read_on())

        now = await reader.current()
        assert count == 20
        assert len(now.header.keys) == 1
        assert now.header.active != kept.key_id
        assert [name for name in names if await plain(reader, name) != name.name.encode()] == []
        readable = 0
        for entry in now.living():
            for key_id in (kept.key_id, entry.key_id):
                box = await store.box(entry.box_id)
                try:
                    unseal(kept.cipher(entry.kind), box or b"", about(now.header.vault_id, key_id, entry.ref))
                    readable += 1
                except SealBroken:
                    pass
        assert readable == 0
        assert await store.box_ids() == {entry.box_id for entry in now.living()}
        await store.close()


async def test_the_file_keeps_no_trace_of_what_the_old_key_has_sealed(tmp_path: Path) -> None:
    place = in_file(tmp_path)
    async with place.made() as vault:
        for number in range(20):
            await vault.put(named("storage", f"n{number}"), bytearray(3_000))
        store = await place.store()
        opened = await vault.current()
        old = [await store.box(entry.box_id) or b"" for entry in opened.living()] + [opened.document.content]
        before = contents(tmp_path)

        await rotate(vault, store)

        after = contents(tmp_path)
        await store.close()
    assert all(box[:64] in before and box[-64:] in before for box in old)
    assert not any(box[:64] in after or box[-64:] in after for box in old[:-1])
    assert old[-1][-64:] not in after


async def test_a_rotation_that_was_interrupted_is_finished_by_the_next_one(place: Place) -> None:
    async with place.made() as vault:
        for number in range(20):
            await vault.put(named("token", f"n{number}"), bytearray(b"x"))
        store = await place.store()

        class Interrupted(Exception):
            """In place of a kill."""

        def interrupt(done: int, of: int) -> None:
            raise Interrupted

        with pytest.raises(Interrupted):
            await rotate(vault, store, interrupt)
        assert len((await vault.current()).header.keys) == 2
        await vault.put(named("token", "n0"), bytearray(b"between"))

        await rotate(vault, store)

        assert len((await vault.current()).header.keys) == 1
        assert await plain(vault, named("token", "n0")) == b"between"
        await store.close()


async def test_boxes_that_nothing_names_are_swept_and_those_in_use_are_not(place: Place) -> None:
    async with place.made() as vault:
        await vault.put(named("token"), bytearray(b"x"))
        store = await place.store()
        document = await store.document()
        assert document is not None
        stamp = await store.commit(document.content, document.stamp, {"5eed": b"left by a kill"}, ())
        assert stamp == document.stamp + 1
        with pytest.raises(Overtaken):
            await store.commit(document.content, document.stamp, {}, ())

        await vault.erase_traces()

        assert "5eed" not in await store.box_ids()
        assert await plain(vault, named("token")) == b"x"
        await store.close()


def contents(folder: Path) -> bytes:
    """All that lies in the vault's file and beside it."""
    return b"".join(path.read_bytes() for path in folder.glob("vault.db*"))


@pytest.mark.parametrize("bad", ["", "../x", "a/b", "-x", "a" * 64])
def test_a_name_that_could_leave_its_place_is_none(bad: str) -> None:
    with pytest.raises(ValueError, match="name"):
        SecretName(profile_id="github", kind="token", name=bad)
