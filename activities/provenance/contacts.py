"""The person's address book and what they approved before, as judging and acting use them."""

from collections.abc import Sequence
from typing import Protocol

from contracts.provenance import ArgumentKind


class Contact(Protocol):
    """One address under a name."""

    @property
    def name(self) -> str: ...

    @property
    def address(self) -> str: ...


class Approved(Protocol):
    """One destination that the person has said yes to."""

    @property
    def value(self) -> str: ...


class PersonalContacts(Protocol):
    """The address book of one person, and no way from there to another's."""

    async def listed(self) -> Sequence[Contact]:
        """By name."""
        ...

    async def add(self, name: str, address: str, *, task_id: str) -> Contact:
        """The same name and address again is the same contact. Raises: ContactsFull."""
        ...

    async def remove(self, name_or_address: str) -> int:
        """How many went, approved destinations of that address included."""
        ...

    async def approved(self) -> Sequence[Approved]: ...

    async def approve(self, values: Sequence[tuple[ArgumentKind, str]], *, task_id: str) -> None:
        """Note where the person has let something go."""
        ...

    async def mark(self) -> str:
        """Changes with every change of the book."""
        ...


class Contacts(Protocol):
    """Keeps the address book of each person apart from everyone else's."""

    def of(self, user_id: str) -> PersonalContacts: ...
