"""The vault in one SQLite file, readable by its owner only; several processes may use it at once."""

import asyncio
import sqlite3
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Self, TypeVar

from contracts.identity import VaultDamaged, VaultUnusable
from identity.stores.store import Document, Overtaken

BUSY_SECONDS = 30.0

_SCHEMA = """
CREATE TABLE IF NOT EXISTS document (
    one INTEGER PRIMARY KEY CHECK (one = 1), stamp INTEGER NOT NULL, content BLOB NOT NULL
);
CREATE TABLE IF NOT EXISTS boxes (box_id TEXT PRIMARY KEY, content BLOB NOT NULL) WITHOUT ROWID;
"""

_NO_ROOM = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)
_USABLE_LATER = (
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_READONLY,
    *_NO_ROOM,
)
_FIRST_BYTE = 0xFF
"""Extended result codes hold the plain one in their lowest byte."""

Result = TypeVar("Result")


class SqliteStore:
    """One connection; every statement runs in a thread."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self._path = path
        self._connection = connection
        self._lock = Lock()

    @classmethod
    async def open(cls, path: Path) -> Self:
        """Open or make the file. Raises: VaultUnusable, VaultDamaged."""
        return cls(path, await asyncio.to_thread(_connected, path))

    @property
    def place(self) -> str:
        return str(self._path)

    async def stamp(self) -> int:
        return await self._run(_stamp, "BEGIN")

    async def document(self) -> Document | None:
        def read(connection: sqlite3.Connection) -> Document | None:
            row = connection.execute("SELECT content, stamp FROM document").fetchone()
            return Document(_blob(row[0]), _number(row[1])) if row else None

        return await self._run(read, "BEGIN")

    async def commit(self, content: bytes, after: int, boxes: Mapping[str, bytes], gone: Collection[str]) -> int:
        def write(connection: sqlite3.Connection) -> int:
            if _stamp(connection) != after:
                raise Overtaken
            connection.executemany("INSERT INTO boxes VALUES (?, ?)", boxes.items())
            connection.executemany("DELETE FROM boxes WHERE box_id = ?", [(each,) for each in gone])
            connection.execute("INSERT OR REPLACE INTO document VALUES (1, ?, ?)", (after + 1, content))
            return after + 1

        return await self._run(write, "BEGIN IMMEDIATE")

    async def box(self, box_id: str) -> bytes | None:
        def read(connection: sqlite3.Connection) -> bytes | None:
            row = connection.execute("SELECT content FROM boxes WHERE box_id = ?", (box_id,)).fetchone()
            return _blob(row[0]) if row else None

        return await self._run(read, "BEGIN")

    async def box_ids(self) -> set[str]:
        def read(connection: sqlite3.Connection) -> set[str]:
            return {str(row[0]) for row in connection.execute("SELECT box_id FROM boxes")}

        return await self._run(read, "BEGIN")

    async def erase_traces(self) -> None:
        """Removed rows are overwritten with zeros at once; what is left is in the write-ahead file."""
        await asyncio.to_thread(self._truncate)

    async def close(self) -> None:
        await asyncio.to_thread(self._close)

    async def _run(self, step: Callable[[sqlite3.Connection], Result], begin: str) -> Result:
        return await asyncio.to_thread(self._transact, step, begin)

    def _transact(self, step: Callable[[sqlite3.Connection], Result], begin: str) -> Result:
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

    def _truncate(self) -> None:
        with self._lock, _explained(self._path):
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def _close(self) -> None:
        with self._lock:
            self._connection.close()


def _connected(path: Path) -> sqlite3.Connection:
    with _explained(path):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.touch(0o600)
        connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=FULL")
            connection.execute("PRAGMA secure_delete=ON")
            connection.execute("PRAGMA cell_size_check=ON")
            connection.executescript(_SCHEMA)
        except BaseException:
            connection.close()
            raise
        return connection


def _stamp(connection: sqlite3.Connection) -> int:
    row = connection.execute("SELECT stamp FROM document").fetchone()
    return _number(row[0]) if row else 0


def _blob(found: object) -> bytes:
    if not isinstance(found, bytes):
        raise VaultDamaged("a row holds something else than bytes")
    return found


def _number(found: object) -> int:
    if not isinstance(found, int) or found < 1:
        raise VaultDamaged("the document's number is none")
    return found


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except VaultDamaged as error:
        raise VaultDamaged(f"{path} is damaged: {error}; import your newest backup") from error
    except (sqlite3.Error, UnicodeDecodeError) as error:
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & _FIRST_BYTE
        if code in _NO_ROOM:
            raise VaultUnusable(f"cannot write {path}: {error}; make room on its disk, nothing was changed") from error
        if code in _USABLE_LATER:
            raise VaultUnusable(f"cannot use {path}: {error}; look who holds it, and at its rights") from error
        raise VaultDamaged(f"{path} is damaged: {error}; import your newest backup") from error
    except OSError as error:
        raise VaultUnusable(f"cannot use {path}: {error.strerror}; make its folder writable for you") from error
