"""What a person asked to have remembered: sealed rows in SQLite, opened one person at a time."""

import asyncio
import hashlib
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import datetime
from pathlib import Path
from typing import Protocol

from contracts.provenance import Confidentiality
from contracts.values import Value
from memory.ranking import rank

MOST_ORIGINS = 20

SCHEMA = """
CREATE TABLE IF NOT EXISTS notes (
    owner TEXT NOT NULL,
    note_id TEXT NOT NULL,
    sealed BLOB,  -- NULL once forgotten: the row stays so that a late retry does not bring the note back
    PRIMARY KEY (owner, note_id)
) WITHOUT ROWID
"""


class Sealer(Protocol):
    """Encrypts small texts; what was sealed for one context does not open in another."""

    def seal(self, plain: bytes, associated: bytes, /) -> bytes: ...

    def unseal(self, box: bytes, associated: bytes, /) -> bytes: ...


class Note(Value):
    """One remembered text."""

    note_id: str
    text: str
    task_id: str
    at: datetime
    trusted: bool = True
    """False if the text came from outside; it stays so."""
    origins: tuple[str, ...] = ()
    """Where it came from, such as `user` or `web:https://host`."""
    confidentiality: Confidentiality = "private"


class Notes:
    """The store. It gives nothing away but the notes of one named person."""

    def __init__(self, path: Path, sealer: Sealer, now: Callable[[], datetime]) -> None:
        self._path = path
        self._sealer = sealer
        self._now = now

    def of(self, user_id: str) -> "PersonalNotes":
        """The notes of one person, and no way from there to another's."""
        return PersonalNotes(self._path, self._sealer, self._now, user_id)


class PersonalNotes:
    """Remember, recall and forget for one person."""

    def __init__(self, path: Path, sealer: Sealer, now: Callable[[], datetime], user_id: str) -> None:
        self._path = path
        self._sealer = sealer
        self._now = now
        self._owner = hashlib.sha256(f"notes of {user_id}".encode()).hexdigest()

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
        """Keep `text`. The same call again gives the note that it made first, even one forgotten since."""
        note_id = hashlib.sha256(f"{task_id}/{call_id}".encode()).hexdigest()[:16]
        note = Note(
            note_id=note_id,
            text=text,
            task_id=task_id,
            at=self._now(),
            trusted=trusted,
            origins=origins[:MOST_ORIGINS],
            confidentiality=confidentiality,
        )
        return await asyncio.to_thread(self._insert, note)

    async def recall(self, query: str, *, limit: int = 5) -> tuple[Note, ...]:
        """The notes that fit best; an empty query gives the newest."""
        notes = await asyncio.to_thread(self._read)
        if not query.strip():
            return tuple(reversed(notes[len(notes) - min(limit, len(notes)) :]))
        order = await asyncio.to_thread(rank, query, [note.text for note in notes])
        return tuple(notes[at] for at in order[:limit])

    async def forget(self, note_id: str) -> bool:
        """Remove one note for good; False if there is none of that id."""
        return await asyncio.to_thread(self._erase, note_id)

    def _insert(self, note: Note) -> Note:
        sealed = self._sealer.seal(note.model_dump_json().encode(), self._context(note.note_id))
        with self._database() as database:
            database.execute(
                "INSERT INTO notes VALUES (?, ?, ?) ON CONFLICT DO NOTHING", (self._owner, note.note_id, sealed)
            )
            kept: tuple[bytes | None] = database.execute(
                "SELECT sealed FROM notes WHERE owner = ? AND note_id = ?", (self._owner, note.note_id)
            ).fetchone()
        return note if kept[0] is None else self._open(note.note_id, kept[0])

    def _read(self) -> list[Note]:
        with self._database() as database:
            rows: list[tuple[str, bytes]] = database.execute(
                "SELECT note_id, sealed FROM notes WHERE owner = ? AND sealed IS NOT NULL", (self._owner,)
            ).fetchall()
        return sorted(
            (self._open(note_id, sealed) for note_id, sealed in rows), key=lambda note: (note.at, note.note_id)
        )

    def _erase(self, note_id: str) -> bool:
        with self._database() as database:
            changed = database.execute(
                "UPDATE notes SET sealed = NULL WHERE owner = ? AND note_id = ? AND sealed IS NOT NULL",
                (self._owner, note_id),
            )
            return changed.rowcount > 0

    def _open(self, note_id: str, sealed: bytes) -> Note:
        return Note.model_validate_json(self._sealer.unseal(sealed, self._context(note_id)))

    def _context(self, note_id: str) -> bytes:
        return f"note/{self._owner}/{note_id}".encode()

    @contextmanager
    def _database(self) -> Iterator[sqlite3.Connection]:
        """One connection for one step: SQLite opens in microseconds, and nothing is left to be closed later."""
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._path.touch(mode=0o600)
        with closing(sqlite3.connect(self._path, timeout=10.0)) as database, database:
            database.execute("PRAGMA secure_delete = ON")
            database.execute(SCHEMA)
            yield database
