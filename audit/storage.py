"""A SQLite file that several processes write, on disk before a call returns; every statement runs in a thread."""

import asyncio
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Self, TypeVar

BUSY_SECONDS = 30.0

DAMAGED = (sqlite3.Error, UnicodeDecodeError)
"""What a damaged file makes SQLite raise: its complaint may quote a name that is no text any more."""

Result = TypeVar("Result")


class StorageUnusable(Exception):
    """Raised when the file cannot be read or written, such as on a full disk; the text names the file and the cause."""


class Database:
    """One connection; a transaction of one thread waits for that of another."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self._path = path
        self._connection = connection
        self._lock = Lock()

    @classmethod
    async def open(cls, path: Path, schema: str) -> Self:
        """Open or make the file, readable by its owner only. Raises: StorageUnusable."""
        return cls(path, await asyncio.to_thread(_connected, path, schema))

    async def write(self, step: Callable[[sqlite3.Connection], Result]) -> Result:
        """Run `step` in a transaction that no other writer overlaps. Raises: StorageUnusable, and what it raises."""
        return await asyncio.to_thread(self.transact, step, "BEGIN IMMEDIATE")

    async def read(self, step: Callable[[sqlite3.Connection], Result]) -> Result:
        """Run `step` on one consistent view. Raises: StorageUnusable, and what it raises."""
        return await asyncio.to_thread(self.transact, step, "BEGIN")

    async def close(self) -> None:
        await asyncio.to_thread(self._close)

    def transact(self, step: Callable[[sqlite3.Connection], Result], begin: str) -> Result:
        """For who is in a thread of its own already. Raises: StorageUnusable, and what it raises."""
        with self._lock, _explained(self._path):
            self._connection.execute(begin)
            try:
                result = step(self._connection)
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise
            return result

    def _close(self) -> None:
        with self._lock:
            self._connection.close()


def _connected(path: Path, schema: str) -> sqlite3.Connection:
    with _explained(path):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.touch(0o600)
        connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=FULL")
            connection.executescript(schema)
        except BaseException:
            connection.close()
            raise
        return connection


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except (sqlite3.OperationalError, sqlite3.DatabaseError, UnicodeDecodeError, OSError) as error:
        raise StorageUnusable(f"cannot use {path}: {error}") from error
