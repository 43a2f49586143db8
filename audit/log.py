"""The audit log: records that are only ever appended, chained by digest and signed, with the signed head elsewhere.

Each record's signature says how many there are and what they amount to. After each append the head says the same in a
file outside of the database, so that a cut end and an older copy that was put back are noticed, too.
"""

import asyncio
import sqlite3
from dataclasses import dataclass
from typing import Self

from audit.chain import Record
from audit.places import AuditPlaces
from audit.storage import Database
from audit.verifying import SCHEMA, Broken, Intact, verified
from audit.writing import Writer
from contracts.audit import Event

MOST_AT_ONCE = 256


@dataclass(frozen=True)
class _Waiting:
    """One event that is to be written, and who waits for that."""

    event: Event
    words: str
    written: asyncio.Future[Record]


class AuditLog:
    """Several processes may append to one log. One object belongs to one event loop.

    Appends that come while another is being written share one transaction.
    """

    def __init__(self, places: AuditPlaces, database: Database, writer: Writer) -> None:
        self._places = places
        self._database = database
        self._writer = writer
        self._queue: list[_Waiting] = []
        self._writing: asyncio.Task[None] | None = None

    @classmethod
    async def open(cls, places: AuditPlaces) -> Self:
        """Open or make the log. Raises: StorageUnusable, also if records and head do not fit each other."""
        database = await Database.open(places.database, SCHEMA)
        try:
            return cls(places, database, await asyncio.to_thread(Writer.open, places, database))
        except BaseException:
            await database.close()
            raise

    async def append(self, event: Event, words: str = "") -> Record:
        """Add a record, on disk when this returns; `words` are sealed, and the caller has taken all secrets out.

        Raises: StorageUnusable; then it is not written.
        """
        waiting = _Waiting(event, words, asyncio.get_running_loop().create_future())
        self._queue.append(waiting)
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(self._write_all())
        return await waiting.written

    async def of_task(self, task_id: str) -> list[Record]:
        """All records of one task, oldest first. Raises: StorageUnusable; ValidationError if one is damaged."""

        def step(connection: sqlite3.Connection) -> list[str]:
            rows = connection.execute("SELECT body FROM records WHERE task_id = ? ORDER BY sequence", (task_id,))
            return [body for (body,) in rows]

        return [Record.model_validate_json(body) for body in await self._database.read(step)]

    async def verify(self, fingerprint: str = "") -> Intact | Broken:
        """Walk the whole chain; with a fingerprint, the key must be that one."""
        return await asyncio.to_thread(verified, self._places, fingerprint)

    async def close(self) -> None:
        if self._writing is not None:
            await asyncio.gather(self._writing, return_exceptions=True)
        self._writer.close()
        await self._database.close()

    async def _write_all(self) -> None:
        while self._queue:
            batch, self._queue = self._queue[:MOST_AT_ONCE], self._queue[MOST_AT_ONCE:]
            try:
                records = await asyncio.to_thread(self._writer.append, [(each.event, each.words) for each in batch])
            except Exception as error:  # whatever it is, whoever waits for one of these must hear of it
                for each in batch:
                    if not each.written.done():
                        each.written.set_exception(error)
            else:
                for each, record in zip(batch, records, strict=True):
                    if not each.written.done():
                        each.written.set_result(record)
