"""The audit log: records that are only ever appended, each carrying the digest of the one before.

A changed, removed or inserted record breaks the chain and is named. Records cut off at the very end leave a whole,
shorter chain: whoever must notice that keeps the last digest somewhere else.
"""

import hashlib
import json
import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, Self

from pydantic import ValidationError

from audit.storage import Database
from contracts.values import JsonObject, Value

FIRST_PREVIOUS = "0" * 64

_SCHEMA = """
CREATE TABLE IF NOT EXISTS records (
    sequence INTEGER PRIMARY KEY,
    body TEXT NOT NULL,
    digest TEXT NOT NULL,
    task_id TEXT
) STRICT;
CREATE INDEX IF NOT EXISTS records_by_task ON records (task_id, sequence);
CREATE TRIGGER IF NOT EXISTS records_stay BEFORE UPDATE ON records
BEGIN SELECT RAISE(ABORT, 'audit records are never changed'); END;
CREATE TRIGGER IF NOT EXISTS records_remain BEFORE DELETE ON records
BEGIN SELECT RAISE(ABORT, 'audit records are never removed'); END;
"""


class Record(Value):
    """One line of the log."""

    sequence: int
    at: datetime
    kind: str
    """What happened, such as `approval.decided`, `effect.begun`, `pairing.refused`."""
    task_id: str | None
    actor: str
    """Who did it: `<channel>:<user id>`, or the name of a part."""
    data: JsonObject
    previous: str
    """Digest of the record before."""


class Intact(Value):
    """Every record is as it was written."""

    kind: Literal["intact"] = "intact"
    records: int
    head: str
    """Digest of the last record; keep it elsewhere to notice a cut end."""


class Broken(Value):
    """The first record that is not as it was written, or that should be there and is not."""

    kind: Literal["broken"] = "broken"
    sequence: int
    reason: Literal["missing", "altered", "unreadable", "moved"]


class AuditLog:
    """Several processes may append to one file."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @classmethod
    async def open(cls, path: Path) -> Self:
        """Raises: StorageUnusable."""
        return cls(await Database.open(path, _SCHEMA))

    async def append(self, kind: str, task_id: str | None, actor: str, data: JsonObject) -> Record:
        """Add a record, on disk when this returns; the caller has taken all secrets out. Raises: StorageUnusable."""

        def step(connection: sqlite3.Connection) -> Record:
            last = connection.execute("SELECT sequence, digest FROM records ORDER BY sequence DESC LIMIT 1").fetchone()
            sequence, previous = last or (0, FIRST_PREVIOUS)
            record = Record(
                sequence=sequence + 1,
                at=datetime.now(UTC),
                kind=kind,
                task_id=task_id,
                actor=actor,
                data=data,
                previous=previous,
            )
            body = _body(record)
            connection.execute(
                "INSERT INTO records (sequence, body, digest, task_id) VALUES (?, ?, ?, ?)",
                (record.sequence, body, _digest(body), task_id),
            )
            return record

        return await self._database.write(step)

    async def of_task(self, task_id: str) -> list[Record]:
        """All records of one task, oldest first. Raises: StorageUnusable; ValidationError if one is damaged."""

        def step(connection: sqlite3.Connection) -> list[str]:
            rows = connection.execute("SELECT body FROM records WHERE task_id = ? ORDER BY sequence", (task_id,))
            return [body for (body,) in rows]

        return [Record.model_validate_json(body) for body in await self._database.read(step)]

    async def verify(self) -> Intact | Broken:
        """Walk the whole chain. Raises: StorageUnusable."""
        return await self._database.read(_verified)

    async def close(self) -> None:
        await self._database.close()


def _verified(connection: sqlite3.Connection) -> Intact | Broken:
    count, previous = 0, FIRST_PREVIOUS
    for sequence, body, digest, task_id in _rows(connection):
        count += 1
        if sequence != count:
            return Broken(sequence=count, reason="missing")
        if _digest(body) != digest:
            return Broken(sequence=sequence, reason="altered")
        try:
            record = Record.model_validate_json(body)
        except ValidationError:
            return Broken(sequence=sequence, reason="unreadable")
        if (record.sequence, record.previous, record.task_id) != (sequence, previous, task_id):
            return Broken(sequence=sequence, reason="moved")
        previous = digest
    return Intact(records=count, head=previous)


def _rows(connection: sqlite3.Connection) -> Iterator[tuple[int, str, str, str | None]]:
    yield from connection.execute("SELECT sequence, body, digest, task_id FROM records ORDER BY sequence")


def _body(record: Record) -> str:
    """The one spelling that digests are taken of; half a surrogate pair, which no reader would take, becomes `?`."""
    text = json.dumps(record.model_dump(mode="json"), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return text.encode("utf-8", "replace").decode()


def _digest(body: str) -> str:
    return hashlib.sha256(body.encode()).hexdigest()
