"""A person's address book, and the destinations that they have approved: sealed rows, opened one person at a time.

Both are explicit: a contact is there because the person said so, an approved destination because they said yes to a
call that went there. Nothing is learned from what merely happened.
"""

import asyncio
import hashlib
import secrets
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from contracts.provenance import ArgumentKind
from contracts.values import Value
from memory.notes import Sealer

MOST_CONTACTS = 2_000

MOST_APPROVED = 500
"""Of more the oldest are forgotten, and asked again."""

SCHEMA = """
CREATE TABLE IF NOT EXISTS contacts (
    owner TEXT NOT NULL,
    entry_id TEXT NOT NULL,
    sealed BLOB NOT NULL,
    PRIMARY KEY (owner, entry_id)
) WITHOUT ROWID
"""


class ContactsFull(Exception):
    """Raised when an address book holds as many contacts as it may; the text says how many."""


class Contact(Value):
    """One address under a name."""

    kind: Literal["contact"] = "contact"
    name: str
    address: str
    task_id: str
    at: datetime


class Approved(Value):
    """One destination that the person has said yes to."""

    kind: Literal["approved"] = "approved"
    argument: ArgumentKind
    value: str
    task_id: str
    at: datetime


_ENTRY: TypeAdapter[Contact | Approved] = TypeAdapter(Annotated[Contact | Approved, Field(discriminator="kind")])


class Contacts:
    """The store. It gives nothing away but the entries of one named person."""

    def __init__(self, path: Path, sealer: Sealer, now: Callable[[], datetime]) -> None:
        self._path = path
        self._sealer = sealer
        self._now = now

    def of(self, user_id: str) -> "PersonalContacts":
        """The entries of one person, and no way from there to another's."""
        return PersonalContacts(self._path, self._sealer, self._now, user_id)


class PersonalContacts:
    """Add, list and remove for one person."""

    def __init__(self, path: Path, sealer: Sealer, now: Callable[[], datetime], user_id: str) -> None:
        self._path = path
        self._sealer = sealer
        self._now = now
        self._owner = hashlib.sha256(f"contacts of {user_id}".encode()).hexdigest()

    async def listed(self) -> tuple[Contact, ...]:
        """By name."""
        entries = (await asyncio.to_thread(self._read)).values()
        found = (entry for entry in entries if isinstance(entry, Contact))
        return tuple(sorted(found, key=lambda contact: (contact.name.casefold(), contact.address)))

    async def approved(self) -> tuple[Approved, ...]:
        """Oldest first."""
        entries = (await asyncio.to_thread(self._read)).values()
        return tuple(sorted((each for each in entries if isinstance(each, Approved)), key=lambda each: each.at))

    async def add(self, name: str, address: str, *, task_id: str) -> Contact:
        """The same name and address again is the same contact. Raises: ContactsFull."""
        contact = Contact(name=name.strip(), address=address.strip(), task_id=task_id, at=self._now())
        return await asyncio.to_thread(self._add, contact)

    async def approve(self, values: Sequence[tuple[ArgumentKind, str]], *, task_id: str) -> None:
        """Note where the person has let something go."""
        at = self._now()
        new = [Approved(argument=kind, value=value, task_id=task_id, at=at) for kind, value in values]
        await asyncio.to_thread(self._approve, new)

    async def remove(self, name_or_address: str) -> int:
        """How many contacts and approved destinations went."""
        return await asyncio.to_thread(self._remove, name_or_address.strip().casefold())

    async def mark(self) -> str:
        """Changes with every change of the book, and costs next to nothing."""
        return await asyncio.to_thread(self._mark)

    def _add(self, contact: Contact) -> Contact:
        with self._database() as database:
            contacts = [each for each in self._entries(database).values() if isinstance(each, Contact)]
            for known in contacts:
                if (known.name.casefold(), known.address) == (contact.name.casefold(), contact.address):
                    return known
            if len(contacts) >= MOST_CONTACTS:
                raise ContactsFull(f"the address book holds {MOST_CONTACTS} contacts; remove one first")
            self._insert(database, contact)
        return contact

    def _approve(self, new: Sequence[Approved]) -> None:
        with self._database() as database:
            entries = self._entries(database)
            known = {(each.argument, each.value): key for key, each in entries.items() if isinstance(each, Approved)}
            for each in new:
                key = known.pop((each.argument, each.value), None)
                if key is not None:
                    self._delete(database, [key])
                self._insert(database, each)
            self._delete(database, list(known.values())[: max(0, len(known) + len(new) - MOST_APPROVED)])

    def _remove(self, wanted: str) -> int:
        with self._database() as database:
            keys = [key for key, each in self._entries(database).items() if wanted in _names(each)]
            self._delete(database, keys)
        return len(keys)

    def _read(self) -> dict[str, Contact | Approved]:
        with self._database() as database:
            return self._entries(database)

    def _entries(self, database: sqlite3.Connection) -> dict[str, Contact | Approved]:
        rows: list[tuple[str, bytes]] = database.execute(
            "SELECT entry_id, sealed FROM contacts WHERE owner = ?", (self._owner,)
        ).fetchall()
        opened = {key: _ENTRY.validate_json(self._sealer.unseal(sealed, self._context(key))) for key, sealed in rows}
        return dict(sorted(opened.items(), key=lambda item: item[1].at))

    def _insert(self, database: sqlite3.Connection, entry: Contact | Approved) -> None:
        key = secrets.token_hex(8)
        sealed = self._sealer.seal(entry.model_dump_json().encode(), self._context(key))
        database.execute("INSERT INTO contacts VALUES (?, ?, ?)", (self._owner, key, sealed))

    def _delete(self, database: sqlite3.Connection, keys: Sequence[str]) -> None:
        database.executemany(
            "DELETE FROM contacts WHERE owner = ? AND entry_id = ?", [(self._owner, key) for key in keys]
        )

    def _context(self, entry_id: str) -> bytes:
        return f"contact/{self._owner}/{entry_id}".encode()

    def _mark(self) -> str:
        try:
            status = self._path.stat()
        except FileNotFoundError:
            return ""
        return f"{status.st_mtime_ns}/{status.st_size}/{status.st_ino}"

    @contextmanager
    def _database(self) -> Iterator[sqlite3.Connection]:
        """One connection for one step, and one writer at a time from its first look on."""
        if not self._path.exists():  # touching it would look like a change
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._path.touch(mode=0o600)
        with closing(sqlite3.connect(self._path, timeout=10.0, isolation_level=None)) as database:
            database.execute("PRAGMA secure_delete = ON")
            database.execute("BEGIN IMMEDIATE")
            with database:
                database.execute(SCHEMA)
                yield database


def _names(entry: Contact | Approved) -> tuple[str, ...]:
    """By what a person may call it."""
    if isinstance(entry, Approved):
        return (entry.value.casefold(),)
    return entry.name.casefold(), entry.address.casefold()
