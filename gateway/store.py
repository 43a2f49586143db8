"""One SQLite file for everything the gateway must not forget; work on it happens off the event loop."""

import asyncio
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")
Row = tuple[str | int | float | bytes | None, ...]

_SCHEMA = """
CREATE TABLE IF NOT EXISTS deliveries (
    task_id TEXT PRIMARY KEY, generation INTEGER NOT NULL, run_id TEXT NOT NULL, past_runs TEXT NOT NULL,
    sequence INTEGER NOT NULL, final INTEGER NOT NULL, channel TEXT NOT NULL, chat_id TEXT NOT NULL,
    address TEXT NOT NULL, touched REAL NOT NULL
);
CREATE TABLE IF NOT EXISTS slots (
    owner TEXT NOT NULL, idx INTEGER NOT NULL, channel TEXT NOT NULL, chat_id TEXT NOT NULL,
    message_id TEXT, shown TEXT NOT NULL DEFAULT '', PRIMARY KEY (owner, idx)
);
CREATE INDEX IF NOT EXISTS slots_by_message ON slots (channel, chat_id, message_id);
CREATE TABLE IF NOT EXISTS requests (
    channel TEXT NOT NULL, chat_id TEXT NOT NULL, message_id TEXT NOT NULL, task_id TEXT NOT NULL,
    at REAL NOT NULL, PRIMARY KEY (channel, chat_id, message_id)
);
CREATE TABLE IF NOT EXISTS handled (key TEXT PRIMARY KEY, at REAL NOT NULL);
CREATE TABLE IF NOT EXISTS people (
    channel TEXT NOT NULL, user_id TEXT NOT NULL, name TEXT NOT NULL, role TEXT NOT NULL, paired_at REAL NOT NULL,
    PRIMARY KEY (channel, user_id)
);
CREATE TABLE IF NOT EXISTS codes (
    id INTEGER PRIMARY KEY, salt BLOB NOT NULL, digest BLOB NOT NULL, role TEXT NOT NULL, expires_at REAL NOT NULL
);
CREATE TABLE IF NOT EXISTS tries (channel TEXT NOT NULL, chat_id TEXT NOT NULL, kind TEXT NOT NULL, at REAL NOT NULL);
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL);
"""


class StoreUnusable(Exception):
    """Raised while nothing can be written down, such as with a full disk; nothing is lost by trying again."""


class Store:
    """Several processes may have it open; each statement group is one transaction."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.touch(mode=0o600)
        self._lock = threading.Lock()
        self._connection = sqlite3.connect(path, check_same_thread=False, timeout=10.0)
        self._connection.execute("PRAGMA journal_mode=WAL")
        self._connection.execute("PRAGMA synchronous=NORMAL")
        self._connection.executescript(_SCHEMA)

    async def rows(self, sql: str, *values: object) -> list[Row]:
        return await self.work(lambda connection: connection.execute(sql, values).fetchall())

    async def row(self, sql: str, *values: object) -> Row | None:
        found = await self.rows(sql, *values)
        return found[0] if found else None

    async def write(self, sql: str, *values: object) -> int:
        """Gives how many rows changed."""
        return await self.work(lambda connection: connection.execute(sql, values).rowcount)

    async def work(self, step: Callable[[sqlite3.Connection], T]) -> T:
        """Runs `step` as one transaction. Raises: StoreUnusable."""
        return await asyncio.to_thread(self._locked, step)

    def close(self) -> None:
        with self._lock:
            self._connection.close()

    def _locked(self, step: Callable[[sqlite3.Connection], T]) -> T:
        try:
            with self._lock, self._connection:
                return step(self._connection)
        except sqlite3.OperationalError as error:
            raise StoreUnusable(f"the gateway cannot write down what it must not forget: {error}") from error
