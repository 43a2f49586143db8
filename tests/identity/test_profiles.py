"""Profiles are sealed like secrets, and are nobody else's."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from contracts.identity import Profile, VersionConflict
from identity.profiles import NoSuchProfile, Profiles
from tests.identity.vaults import Place, in_file, named


def profile(profile_id: str, user_id: str = "ann") -> Profile:
    return Profile(
        profile_id=profile_id, user_id=user_id, account=f"{user_id}@example.com", created_at=datetime.now(UTC)
    )


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return in_file(tmp_path)


async def test_a_person_sees_her_own_and_nobody_else_s(place: Place) -> None:
    async with place.made() as vault:
        profiles = Profiles(vault)
        for each in (profile("shop"), profile("github"), profile("bank", "bob")):
            await profiles.create(each)
        await vault.put(named("token", profile_id="stray"), bytearray(b"x"))

        assert [each.profile_id async for each in profiles.list("ann")] == ["github", "shop"]
        assert [each.profile_id async for each in profiles.list()] == ["bank", "github", "shop"]
        with pytest.raises(NoSuchProfile, match="no profile named 'bank'"):
            await profiles.show("bank", "ann")


async def test_a_name_is_given_once(place: Place) -> None:
    async with place.made() as vault:
        await Profiles(vault).create(profile("shop"))
        with pytest.raises(VersionConflict, match="a profile 'shop' already"):
            await Profiles(vault).create(profile("shop", "bob"))


async def test_a_removed_profile_takes_its_secrets_with_it(place: Place) -> None:
    async with place.made() as vault:
        await Profiles(vault).create(profile("github"))
        await vault.put(named("token"), bytearray(b"x"))

        assert await Profiles(vault).remove("github") == 2
        assert [each async for each in vault.names("github")] == []
        with pytest.raises(NoSuchProfile):
            await Profiles(vault).remove("github")


async def test_the_account_is_not_readable_in_the_file(place: Place) -> None:
    async with place.made() as vault:
        await Profiles(vault).create(profile("github"))

    content = b"".join(path.read_bytes() for path in place.folder.glob("vault.db*"))
    assert b"example.com" not in content
    assert b"github" not in content
