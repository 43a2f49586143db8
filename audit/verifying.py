"""Check a log from its files alone, without changing anything: the first record that is not as it was written."""

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from pydantic import ValidationError

from audit.chain import FIRST_PREVIOUS, Head, HeadBroken, Record, digest_of, linked, row_statement
from audit.places import AuditPlaces
from audit.signing import KeyUnusable, PublicKey
from audit.storage import DAMAGED
from contracts.values import Value

SCHEMA = """
CREATE TABLE IF NOT EXISTS records (
    sequence INTEGER PRIMARY KEY,
    body TEXT NOT NULL,
    digest TEXT NOT NULL,
    signature TEXT NOT NULL,
    task_id TEXT
) STRICT;
CREATE INDEX IF NOT EXISTS records_by_task ON records (task_id, sequence);
CREATE TRIGGER IF NOT EXISTS records_stay BEFORE UPDATE ON records
BEGIN SELECT RAISE(ABORT, 'audit records are never changed'); END;
CREATE TRIGGER IF NOT EXISTS records_remain BEFORE DELETE ON records
BEGIN SELECT RAISE(ABORT, 'audit records are never removed'); END;
"""

Reason = Literal[
    "missing",
    "altered",
    "moved",
    "unreadable",
    "forged",
    "cut",
    "diverged",
    "head_missing",
    "head_broken",
    "key_missing",
    "key_broken",
    "key_swapped",
    "file_missing",
    "file_damaged",
    "schema_changed",
    "bundle_unreadable",
    "manifest_broken",
    "member_missing",
    "member_altered",
    "member_unlisted",
]
"""missing: a record in between is gone. altered: it is not what its digest was taken of. moved: it stood elsewhere.
forged: its signature is not of this key. cut: the records end before the head says, because their end was cut off or an
older copy was put back. diverged: the record that the head names is another one."""


class Intact(Value):
    """Every record is as it was written."""

    kind: Literal["intact"] = "intact"
    records: int
    head: str
    """Digest of the last record."""
    fingerprint: str = ""
    """Of the public key that all was checked with."""
    after_head: int = 0
    """Signed records that are newer than the head, as a process leaves them that was cut off or is still writing."""


class Broken(Value):
    """The first thing that is not as it was written, or that should be there and is not."""

    kind: Literal["broken"] = "broken"
    reason: Reason
    sequence: int | None = None
    """Of the record; None if it is not about one record."""
    detail: str = ""


@dataclass(frozen=True)
class _End:
    """How far the records go."""

    count: int
    digest: str
    at_head: str
    """Digest of the record that the head names."""


def verified(places: AuditPlaces, fingerprint: str = "") -> Intact | Broken:
    """Call it off the event loop. The head is read first: records that come meanwhile are newer than it."""
    key = _public_key(places, fingerprint)
    if isinstance(key, Broken):
        return key
    head = _head(places, key)
    if isinstance(head, Broken):
        return head
    if not places.database.is_file():
        return Broken(reason="file_missing", sequence=1 if head.count else None, detail=str(places.database))
    try:
        connection = sqlite3.connect(f"{places.database.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None)
    except DAMAGED as error:
        return Broken(reason="file_damaged", detail=str(error))
    try:
        return _checked(connection, head, key)
    finally:
        connection.close()


def _public_key(places: AuditPlaces, fingerprint: str) -> PublicKey | Broken:
    try:
        key = PublicKey.read(places.public_key.read_bytes())
    except OSError as error:
        return Broken(reason="key_missing", detail=f"{places.public_key}: {error.strerror}")
    except KeyUnusable as error:
        return Broken(reason="key_broken", detail=str(error))
    if fingerprint and fingerprint != key.fingerprint:
        return Broken(reason="key_swapped", detail=key.fingerprint)
    return key


def _head(places: AuditPlaces, key: PublicKey) -> Head | Broken:
    try:
        return Head.load(places.head, key)
    except OSError as error:
        return Broken(reason="head_missing", detail=f"{places.head}: {error.strerror}")
    except HeadBroken as error:
        return Broken(reason="head_broken", detail=str(error))


def _checked(connection: sqlite3.Connection, head: Head, key: PublicKey) -> Intact | Broken:
    connection.text_factory = bytes
    try:
        connection.execute("BEGIN")
        walked = _walked(connection, head, key)
    except DAMAGED as error:
        return Broken(reason="file_damaged", detail=str(error))
    if isinstance(walked, Broken):
        return walked
    if walked.count < head.count:
        return Broken(reason="cut", sequence=walked.count + 1, detail=f"{head.count}")
    if walked.at_head != head.digest:
        return Broken(reason="diverged", sequence=head.count)
    return _file_problem(connection) or Intact(
        records=walked.count, head=walked.digest, fingerprint=key.fingerprint, after_head=walked.count - head.count
    )


def _walked(connection: sqlite3.Connection, head: Head, key: PublicKey) -> _End | Broken:
    """Row by row. What the file itself cannot give is named as the record that should come next."""
    count, digest, at_head = 0, FIRST_PREVIOUS, FIRST_PREVIOUS
    rows = connection.execute("SELECT sequence, body, digest, signature, task_id FROM records ORDER BY sequence")
    while True:
        try:
            row = next(rows, None)
        except DAMAGED as error:
            return Broken(reason="unreadable", sequence=count + 1, detail=str(error))
        if row is None:
            return _End(count, digest, at_head)
        count += 1
        found = _row(row, count, digest, key)
        if isinstance(found, Broken):
            return found
        digest = found
        if count == head.count:
            at_head = digest


def _row(row: tuple[object, ...], count: int, previous: str, key: PublicKey) -> str | Broken:
    """The digest of a good row."""
    sequence, body, digest, signature, task_id = row
    if sequence != count:
        return Broken(reason="missing", sequence=count)
    if not isinstance(body, bytes) or not isinstance(digest, bytes) or not isinstance(signature, bytes):
        return Broken(reason="unreadable", sequence=count, detail="a column is of another type")
    chained = linked(previous, digest_of(body))
    record = _parsed(body)
    if record is not None and record.sequence != count:
        return Broken(reason="moved", sequence=count, detail=f"it was record {record.sequence}")
    if chained.encode() != digest:
        return Broken(reason="altered", sequence=count)
    if not key.verifies(row_statement(count, chained), signature.decode("ascii", "replace")):
        return Broken(reason="forged", sequence=count)
    if record is None:
        return Broken(reason="unreadable", sequence=count)
    if task_id != (None if record.task_id is None else record.task_id.encode("utf-8", "replace")):
        return Broken(reason="altered", sequence=count, detail="it is filed under another task")
    return chained


def _parsed(body: bytes) -> Record | None:
    try:
        return Record.model_validate_json(body)
    except ValidationError:
        return None


def _file_problem(connection: sqlite3.Connection) -> Broken | None:
    """What the rows do not show: an index that would find other records, triggers that were taken out."""
    try:
        found = next(connection.execute("PRAGMA integrity_check(1)"))[0]
        layout = list(_layout(connection))
    except DAMAGED as error:
        return Broken(reason="file_damaged", detail=str(error))
    if found != b"ok":
        return Broken(reason="file_damaged", detail=str(found, "utf-8", "replace"))
    fresh = sqlite3.connect(":memory:")
    try:
        fresh.text_factory = bytes
        fresh.executescript(SCHEMA)
        expected = list(_layout(fresh))
    finally:
        fresh.close()
    return None if layout == expected else Broken(reason="schema_changed")


def _layout(connection: sqlite3.Connection) -> Iterator[tuple[object, ...]]:
    yield from connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name")
