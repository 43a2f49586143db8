"""Profiles: whose account each is and where, sealed in the vault beside their secrets."""

from collections.abc import AsyncIterator
from typing import Protocol

from pydantic import ValidationError

from contracts.identity import NoSuchSecret, Profile, SecretName, Vault, VaultDamaged, VersionConflict


class NoSuchProfile(Exception):
    """Raised when there is no profile of that name, or it is somebody else's."""


class ProfileVault(Vault, Protocol):
    """What profiles need beyond secrets of one profile."""

    async def profile_ids(self) -> list[str]: ...

    async def forget_profile(self, profile_id: str) -> int: ...


class Profiles:
    """All raise VaultLocked, VaultDamaged and VaultUnusable."""

    def __init__(self, vault: ProfileVault) -> None:
        self._vault = vault

    async def create(self, profile: Profile) -> None:
        """Raises: VersionConflict if there is one of that name."""
        try:
            await self._vault.put(_name(profile.profile_id), _bytes(profile), after=0)
        except VersionConflict:
            raise VersionConflict(f"there is a profile {profile.profile_id!r} already") from None

    async def show(self, profile_id: str, user_id: str | None = None) -> Profile:
        """One, if it is this person's; with None whoever's it is. Raises: NoSuchProfile."""
        try:
            async with self._vault.opened(_name(profile_id)) as plain:
                profile = Profile.model_validate_json(plain)
        except NoSuchSecret:
            raise NoSuchProfile(f"no profile named {profile_id!r}") from None
        except ValidationError:
            raise VaultDamaged(f"the profile {profile_id!r} cannot be read; import your newest backup") from None
        if profile.profile_id != profile_id:
            raise VaultDamaged(f"the profile {profile_id!r} calls itself {profile.profile_id!r}")
        if user_id is not None and profile.user_id != user_id:
            raise NoSuchProfile(f"no profile named {profile_id!r}")
        return profile

    async def list(self, user_id: str | None = None) -> AsyncIterator[Profile]:
        """Of this person, or with None of all, by name."""
        for profile_id in await self._vault.profile_ids():
            try:
                profile = await self.show(profile_id, user_id)
            except NoSuchProfile:
                continue  # somebody else's, removed meanwhile, or secrets without a profile
            yield profile

    async def remove(self, profile_id: str) -> int:
        """With all of its secrets, at once; give how many there were. Raises: NoSuchProfile."""
        removed = await self._vault.forget_profile(profile_id)
        if not removed:
            raise NoSuchProfile(f"no profile named {profile_id!r}")
        return removed


def _name(profile_id: str) -> SecretName:
    return SecretName(profile_id=profile_id, kind="profile")


def _bytes(profile: Profile) -> bytearray:
    return bytearray(profile.model_dump_json().encode())
