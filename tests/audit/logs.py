"""What tests of the audit log are made of: a filled log, and hands that change its files."""

import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

from audit.chain import FIRST_PREVIOUS, digest_of, linked
from audit.log import AuditLog
from audit.places import AuditPlaces
from audit.verifying import SCHEMA
from contracts.audit import Event

Tamper = Callable[[AuditPlaces], None]


def event(number: int = 0, task_id: str | None = "task-0") -> Event:
    return Event(kind="effect.begun", actor="telegram:1", task_id=task_id, data={"number": number})


async def fill(log: AuditLog, count: int = 5) -> None:
    for number in range(count):
        await log.append(event(number, f"task-{number % 2}"))


async def filled(places: AuditPlaces, count: int = 5) -> None:
    """A log with so many records, closed, all of it in its main file."""
    log = await AuditLog.open(places)
    await fill(log, count)
    await log.close()


def rows(*statements: str) -> Tamper:
    """Statements of somebody who may write the database, and puts its triggers back afterwards."""

    def tamper(places: AuditPlaces) -> None:
        connection = sqlite3.connect(places.database, isolation_level=None)
        for statement in ("DROP TRIGGER records_stay", "DROP TRIGGER records_remain", *statements):
            connection.execute(statement)
        connection.executescript(SCHEMA)
        connection.close()

    return tamper


def rechained(*statements: str) -> Tamper:
    """The same, and every digest is computed anew; without the key the signatures stay what they were."""

    def tamper(places: AuditPlaces) -> None:
        rows(*statements)(places)
        connection = sqlite3.connect(places.database, isolation_level=None)
        updates, digest = [], FIRST_PREVIOUS
        for sequence, body in connection.execute("SELECT sequence, body FROM records ORDER BY sequence").fetchall():
            digest = linked(digest, digest_of(body.encode()))
            updates.append(f"UPDATE records SET digest = '{digest}' WHERE sequence = {sequence}")  # noqa: S608  a digest and a number
        connection.close()
        rows(*updates)(places)

    return tamper


def copied(places: AuditPlaces, folder: Path) -> AuditPlaces:
    """A second set of the same files."""
    copies = AuditPlaces.below(folder)
    for kept, copy in (
        (places.database, copies.database),
        (places.head, copies.head),
        (places.public_key, copies.public_key),
        (places.private_key, copies.private_key),
    ):
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(kept, copy)
    return copies
