"""The effect ledger: what is about to happen is written down first, so that after a crash nothing happens twice.

A call that began and has no end is in doubt: whoever finds it must look whether the effect took place, or ask.
"""

import sqlite3
from datetime import UTC, datetime
from pathlib import Path
from typing import Self

from audit.storage import Database
from contracts.blobs import BlobRef, Sha256
from contracts.ledger import Begun, CallChanged, Done, InDoubt

_SCHEMA = """
CREATE TABLE IF NOT EXISTS effects (
    task_id TEXT NOT NULL,
    call_id TEXT NOT NULL,
    args_sha256 TEXT NOT NULL,
    tool TEXT NOT NULL,
    host TEXT NOT NULL,
    started_at TEXT NOT NULL,
    finished_at TEXT,
    result_ref TEXT,
    PRIMARY KEY (task_id, call_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS approvals (
    task_id TEXT NOT NULL,
    approval_id TEXT NOT NULL,
    call_id TEXT NOT NULL,
    digest TEXT NOT NULL,
    used_at TEXT NOT NULL,
    PRIMARY KEY (task_id, approval_id, call_id)
) STRICT, WITHOUT ROWID;
"""


class NeverBegun(Exception):
    """Raised when a call is to be finished that the ledger does not know."""


class Ledger:
    """One entry for each call of a task; several processes may share one file."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @classmethod
    async def open(cls, path: Path) -> Self:
        """Raises: StorageUnusable."""
        return cls(await Database.open(path, _SCHEMA))

    async def begin(
        self, task_id: str, call_id: str, args_sha256: Sha256, tool: str, host: str
    ) -> Begun | Done | InDoubt:
        """Write the call down before its effect; exactly one caller gets Begun.

        Raises: CallChanged, StorageUnusable; then there must be no effect.
        """

        def step(connection: sqlite3.Connection) -> Begun | Done | InDoubt:
            entry = _find(connection, task_id, call_id)
            if entry is None:
                _insert(connection, task_id, call_id, args_sha256, tool, host)
                return Begun()
            if (entry["args_sha256"], entry["tool"]) != (args_sha256, tool):
                raise CallChanged(
                    f"call {task_id}/{call_id} began as {entry['tool']} with arguments {entry['args_sha256']}, "
                    f"and now comes as {tool} with {args_sha256}"
                )
            return _standing(entry)

        return await self._database.write(step)

    async def knows(self, task_id: str, call_id: str) -> bool:
        """Whether the call has begun. Raises: StorageUnusable."""
        return await self._database.read(lambda connection: _find(connection, task_id, call_id)) is not None

    async def finish(self, task_id: str, call_id: str, result_ref: BlobRef) -> BlobRef:
        """Record what the effect gave. The first record stays, and is returned if there is one.

        Raises: NeverBegun, StorageUnusable.
        """

        def step(connection: sqlite3.Connection) -> BlobRef:
            entry = _find(connection, task_id, call_id)
            if entry is None:
                raise NeverBegun(f"call {task_id}/{call_id} has not begun")
            standing = _standing(entry)
            if isinstance(standing, Done):
                return standing.result_ref
            connection.execute(
                "UPDATE effects SET finished_at = ?, result_ref = ? WHERE task_id = ? AND call_id = ?",
                (_now(), result_ref.model_dump_json(), task_id, call_id),
            )
            return result_ref

        return await self._database.write(step)

    async def use_approval(self, task_id: str, approval_id: str, call_id: str, digest: Sha256) -> bool:
        """Use an approval up for one call; False if it was used before, unless by this very call as it is.

        Raises: StorageUnusable; then there must be no effect.
        """

        def step(connection: sqlite3.Connection) -> bool:
            connection.execute(
                "INSERT INTO approvals (task_id, approval_id, call_id, digest, used_at) VALUES (?, ?, ?, ?, ?) "
                "ON CONFLICT DO NOTHING",
                (task_id, approval_id, call_id, digest, _now()),
            )
            key = (task_id, approval_id, call_id)
            found = connection.execute(
                "SELECT digest FROM approvals WHERE task_id = ? AND approval_id = ? AND call_id = ?", key
            ).fetchone()
            return bool(found == (digest,))

        return await self._database.write(step)

    async def close(self) -> None:
        await self._database.close()


def _find(connection: sqlite3.Connection, task_id: str, call_id: str) -> dict[str, str | None] | None:
    cursor = connection.execute("SELECT * FROM effects WHERE task_id = ? AND call_id = ?", (task_id, call_id))
    row = cursor.fetchone()
    return None if row is None else dict(zip((column[0] for column in cursor.description), row, strict=True))


def _insert(connection: sqlite3.Connection, task_id: str, call_id: str, args_sha256: str, tool: str, host: str) -> None:
    connection.execute(
        "INSERT INTO effects (task_id, call_id, args_sha256, tool, host, started_at) VALUES (?, ?, ?, ?, ?, ?)",
        (task_id, call_id, args_sha256, tool, host, _now()),
    )


def _standing(entry: dict[str, str | None]) -> Done | InDoubt:
    if entry["result_ref"] is not None:
        return Done(result_ref=BlobRef.model_validate_json(entry["result_ref"]))
    return InDoubt.model_validate({"started_at": entry["started_at"], "host": entry["host"]})


def _now() -> str:
    return datetime.now(UTC).isoformat()
