"""The person's own notes as the tools remember and recall use them."""

from collections.abc import Sequence
from typing import Protocol

from contracts.notes import Note


class Notes(Protocol):
    """Keeps short texts for each person apart from everyone else's."""

    async def remember(self, user_id: str, text: str, task_id: str, call_id: str) -> Note:
        """Store one text. The same task_id and call_id again give the note that is there already."""
        ...

    async def recall(self, user_id: str, query: str, limit: int) -> Sequence[Note]:
        """The notes of this person that fit the query best, best first; an empty query gives the newest."""
        ...
