"""What has been said to whom: which message shows which task, so that nothing is ever said twice."""

import sqlite3
import time
from dataclasses import dataclass

from contracts.delivery import DeliverRequest
from contracts.messages import Address
from gateway.store import Row, Store


@dataclass(frozen=True)
class Slot:
    """One message on the platform; `message_id` is None while nobody knows whether it was sent."""

    owner: str
    index: int
    message_id: str | None
    shown: str
    """Digest of what it shows; empty for the placeholder."""


@dataclass(frozen=True)
class Unfinished:
    """A task whose last word has not been shown yet."""

    task_id: str
    address: Address
    sequence: int
    touched: float
    """When its message was last changed, in seconds since the epoch."""


class Outbox:
    """Slots in SQLite. A slot is recorded before its message is sent and again with its id."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def admit(self, request: DeliverRequest, run_id: str) -> str | None:
        """The owner of the slots that this status may change, or None if something newer has been shown.

        Sequences are comparable within a chain of runs; a run after the final word is a retry and gets new messages.
        """
        return await self._store.work(lambda connection: _admit(connection, request, run_id))

    async def finish(self, task_id: str) -> None:
        await self._store.write("UPDATE deliveries SET final = 1, touched = ? WHERE task_id = ?", time.time(), task_id)

    async def touch(self, task_id: str) -> None:
        await self._store.write("UPDATE deliveries SET touched = ? WHERE task_id = ?", time.time(), task_id)

    async def run_of(self, task_id: str) -> str:
        """The run whose status was shown last; empty if none was."""
        found = await self._store.row("SELECT run_id FROM deliveries WHERE task_id = ?", task_id)
        return str(found[0]) if found else ""

    async def unfinished(self, channel: str | None = None, chat_id: str | None = None) -> list[Unfinished]:
        """Newest first."""
        found = await self._store.rows(
            "SELECT task_id, address, sequence, touched FROM deliveries WHERE final = 0"
            " AND (?1 IS NULL OR channel = ?1) AND (?2 IS NULL OR chat_id = ?2) ORDER BY task_id DESC",
            channel,
            chat_id,
        )
        return [
            Unfinished(str(task), Address.model_validate_json(str(address)), int(sequence or 0), float(touched or 0))
            for task, address, sequence, touched in found
        ]

    async def slot(self, owner: str, index: int) -> Slot | None:
        found = await self._store.row(
            "SELECT owner, idx, message_id, shown FROM slots WHERE owner = ? AND idx = ?", owner, index
        )
        return _slot(found) if found else None

    async def sending(self, owner: str, index: int, address: Address) -> None:
        """To be called before a message is sent."""
        await self._store.write(
            "INSERT INTO slots (owner, idx, channel, chat_id) VALUES (?1, ?2, ?3, ?4)"
            " ON CONFLICT (owner, idx) DO UPDATE SET message_id = NULL, shown = ''",
            owner,
            index,
            address.channel,
            address.chat_id,
        )

    async def sent(self, owner: str, index: int, message_id: str) -> None:
        await self._store.write("UPDATE slots SET message_id = ? WHERE owner = ? AND idx = ?", message_id, owner, index)

    async def shows(self, owner: str, index: int, digest: str) -> None:
        await self._store.write("UPDATE slots SET shown = ? WHERE owner = ? AND idx = ?", digest, owner, index)

    async def forget(self, owner: str, index: int) -> None:
        """To be called when it is certain that nothing was sent."""
        await self._store.write("DELETE FROM slots WHERE owner = ? AND idx = ?", owner, index)

    async def task_of(self, channel: str, chat_id: str, message_id: str) -> str | None:
        """The task that a message of ours shows."""
        found = await self._store.row(
            "SELECT owner FROM slots WHERE channel = ? AND chat_id = ? AND message_id = ?",
            channel,
            chat_id,
            message_id,
        )
        kind, _, rest = str(found[0]).partition("/") if found else ("", "", "")
        return rest.partition("/")[0] if kind == "task" else None


def _slot(row: Row) -> Slot:
    owner, index, message_id, shown = row
    return Slot(str(owner), int(index or 0), None if message_id is None else str(message_id), str(shown))


def _admit(connection: sqlite3.Connection, request: DeliverRequest, run_id: str) -> str | None:
    task_id, sequence = request.status.record.task_id, request.status.sequence
    found = connection.execute(
        "SELECT generation, run_id, past_runs, sequence, final FROM deliveries WHERE task_id = ?", (task_id,)
    ).fetchone()
    generation, known_run, past, known_sequence, final = found or (0, run_id, "", -1, 0)
    if run_id != known_run:
        if run_id in past.split():
            return None
        past = f"{past} {known_run}".strip()
        if final:
            generation, known_sequence, final = generation + 1, -1, 0
    if sequence < known_sequence or (final and not request.final):
        return None
    connection.execute(
        "INSERT INTO deliveries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (task_id) DO UPDATE SET"
        " generation = excluded.generation, run_id = excluded.run_id, past_runs = excluded.past_runs,"
        " sequence = excluded.sequence, final = excluded.final",
        (
            task_id,
            generation,
            run_id,
            past,
            sequence,
            final,
            request.address.channel,
            request.address.chat_id,
            request.address.model_dump_json(),
            time.time(),
        ),
    )
    return f"task/{task_id}/{generation}"
