"""The writing end of the log: takes its turn among processes, adds records in one transaction, and moves the head.

Nothing is added to a log that does not fit its head: that would cover up what was done to it.
"""

import fcntl
import os
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from typing import Self

from audit.chain import FIRST_PREVIOUS, Head, HeadBroken, Record, digest_of, linked, row_statement
from audit.files import overwrite_file, replace_file
from audit.places import AuditPlaces
from audit.signing import KeyUnusable, Signer
from audit.storage import Database, StorageUnusable
from contracts.audit import Event
from contracts.values import JsonObject

REMEDY = (
    "nothing more is written to it, and nothing runs without it; `asos audit verify` says what is wrong. Put the "
    "newest copies of records and head back, or move both and the signing key away, as evidence, to begin a new log"
)

SYNC_SECONDS = 1.0
"""At most so much of the head's way can be lost to a power cut; the records themselves never."""

_FROM = "SELECT sequence, body, digest, signature FROM records WHERE sequence >= ? ORDER BY sequence"


class Writer:
    """Call it off the event loop; one thread at a time."""

    def __init__(self, places: AuditPlaces, database: Database, turn: int) -> None:
        self._places = places
        self._database = database
        self._turn_file = turn
        self._signer: Signer
        self._kept: tuple[bytes, Head] | None = None
        self._synced = time.monotonic() - SYNC_SECONDS

    @classmethod
    def open(cls, places: AuditPlaces, database: Database) -> Self:
        """Makes key and head for a new log; takes up what was cut off before its head. Raises: StorageUnusable."""
        turn = os.open(f"{places.database}.turn", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        writer = cls(places, database, turn)
        try:
            with writer._turn():
                writer._signer = _signer(places, database)
                writer._append([])
        except BaseException:
            writer.close()
            raise
        return writer

    def append(self, events: Sequence[tuple[Event, str]]) -> list[Record]:
        """All of them or none, on disk when this returns. Raises: StorageUnusable."""
        with self._turn():
            return self._append(events)

    def close(self) -> None:
        os.close(self._turn_file)

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """One process after the other; what goes wrong is said with the remedy."""
        fcntl.flock(self._turn_file, fcntl.LOCK_EX)
        try:
            yield
        except (HeadBroken, KeyUnusable) as error:
            raise StorageUnusable(f"the audit log {self._places.database}: {error}; {REMEDY}") from error
        except OSError as error:
            raise StorageUnusable(f"cannot use {error.filename or self._places.head}: {error.strerror}") from error
        finally:
            fcntl.flock(self._turn_file, fcntl.LOCK_UN)

    def _append(self, events: Sequence[tuple[Event, str]]) -> list[Record]:
        head = self._head()

        def step(connection: sqlite3.Connection) -> tuple[list[Record], str]:
            count, digest = self._end(connection, head)
            found = [(_recovered(head.count, count), "")] if count > head.count else []
            return self._insert(connection, count, digest, [*found, *events])

        records, digest = self._database.transact(step, "BEGIN IMMEDIATE")
        if records:
            self._keep_head(Head.signed(records[-1].sequence, digest, records[-1].at, self._signer))
        return records[len(records) - len(events) :]

    def _head(self) -> Head:
        try:
            content = self._places.head.read_bytes()
        except FileNotFoundError:
            raise HeadBroken(f"its head {self._places.head} is missing") from None
        if self._kept is None or self._kept[0] != content:
            try:
                self._kept = content, Head.read(content, self._signer.public)
            except HeadBroken as error:
                raise HeadBroken(f"its head {self._places.head}: {error}") from None
        return self._kept[1]

    def _keep_head(self, head: Head) -> None:
        content, now = head.content(), time.monotonic()
        sync = now - self._synced >= SYNC_SECONDS
        overwrite_file(self._places.head, content, sync=sync)
        self._synced = now if sync else self._synced
        self._kept = content, head

    def _end(self, connection: sqlite3.Connection, head: Head) -> tuple[int, str]:
        """Where the chain ends: at the head, or behind it with records that this key has signed.

        Raises: HeadBroken.
        """
        with closing(connection.execute(_FROM, (head.count,))) as rows:
            count, digest = 0, FIRST_PREVIOUS
            if head.count:
                count, _, digest, _ = next(rows, (0, "", "", ""))
            if (count, digest) != (head.count, head.digest):
                raise HeadBroken(f"it does not have the record {head.count} that its head {self._places.head} names")
            for sequence, body, chained, signature in rows:
                count, digest = count + 1, linked(digest, digest_of(body.encode()))
                genuine = self._signer.public.verifies(row_statement(count, digest), signature)
                if (sequence, chained) != (count, digest) or not genuine:
                    raise HeadBroken(f"its record {count} was not written by this program")
        return count, digest

    def _insert(
        self, connection: sqlite3.Connection, count: int, digest: str, events: Sequence[tuple[Event, str]]
    ) -> tuple[list[Record], str]:
        records = []
        for event, words in events:
            count += 1
            record = _record(count, event, words)
            body = record.body()
            digest = linked(digest, digest_of(body.encode()))
            signature = self._signer.sign(row_statement(count, digest))
            connection.execute(
                "INSERT INTO records (sequence, body, digest, signature, task_id) VALUES (?, ?, ?, ?, ?)",
                (count, body, digest, signature, record.task_id),
            )
            records.append(record)
        return records, digest


def _record(sequence: int, event: Event, words: str) -> Record:
    return Record(
        sequence=sequence,
        at=datetime.now(UTC),
        kind=event.kind,
        task_id=event.task_id,
        actor=event.actor,
        data=event.data,
        call_id=event.call_id,
        digest=event.digest,
        policy_version=event.policy_version,
        position=event.position,
        words=words,
    )


def _recovered(head: int, last: int) -> Event:
    """Somebody was cut off between a record and its head."""
    data: JsonObject = {"head": head, "records": last - head}
    return Event(kind="recovered", actor="audit", data=data)


def _signer(places: AuditPlaces, database: Database) -> Signer:
    """The key of this log, or a new one for a new log. The private key is written last: where it is, there is a head.

    Raises: KeyUnusable, OSError, StorageUnusable.
    """
    if places.private_key.exists():
        signer = Signer.load(places.private_key)
        _check_public(places, signer)
        return signer
    if database.transact(lambda connection: connection.execute("SELECT 1 FROM records").fetchone(), "BEGIN"):
        raise KeyUnusable(f"its signing key {places.private_key} is missing")
    if places.head.exists() and _counts(places):
        raise KeyUnusable(f"its head {places.head} names records, and there are none, nor is there a signing key")
    signer = Signer.new()
    for folder in (places.head.parent, places.private_key.parent):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    replace_file(places.public_key, signer.public.pem())
    replace_file(places.head, Head.signed(0, FIRST_PREVIOUS, datetime.now(UTC), signer).content())
    replace_file(places.private_key, signer.pem())
    return signer


def _check_public(places: AuditPlaces, signer: Signer) -> None:
    try:
        kept = places.public_key.read_bytes()
    except FileNotFoundError:
        raise KeyUnusable(f"its public key {places.public_key} is missing") from None
    if kept != signer.public.pem():
        raise KeyUnusable(f"its public key {places.public_key} does not belong to {places.private_key}")


def _counts(places: AuditPlaces) -> bool:
    """Whether a head without its key names records; one that cannot be read is taken to."""
    try:
        return Head.model_validate_json(places.head.read_bytes()).count > 0
    except ValueError:
        return True
