"""The person's own notes as the tools remember and recall use them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from contracts.provenance import Confidentiality


class Note(Protocol):
    """One remembered text, and the task that it came from."""

    @property
    def note_id(self) -> str: ...

    @property
    def text(self) -> str: ...

    @property
    def task_id(self) -> str: ...

    @property
    def at(self) -> datetime: ...

    @property
    def trusted(self) -> bool:
        """False if the text came from outside; it stays so."""
        ...

    @property
    def origins(self) -> tuple[str, ...]:
        """Where the text came from, such as `user` or `web:https://host`."""
        ...

    @property
    def confidentiality(self) -> Confidentiality: ...


class PersonalNotes(Protocol):
    """The notes of one person, and no way from there to another's."""

    async def remember(
        self,
        text: str,
        *,
        task_id: str,
        call_id: str,
        trusted: bool = True,
        origins: tuple[str, ...] = (),
        confidentiality: Confidentiality = "private",
    ) -> Note:
        """Keep one text. The same call again gives the note that it made first."""
        ...

    async def recall(self, query: str, *, limit: int = 5) -> Sequence[Note]:
        """The notes that fit best, best first; an empty query gives the newest."""
        ...


class Notes(Protocol):
    """Keeps short texts for each person apart from everyone else's."""

    def of(self, user_id: str) -> PersonalNotes: ...
