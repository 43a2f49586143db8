"""What people and tasks use up, and what each person usually does: counted once for all processes of a machine.

A use is taken before it happens, in one transaction that no other process overlaps, so that twenty at once never take
more than there is. Windows of a minute and an hour slide; a day is a calendar day in UTC.
"""

import hmac
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Self

from audit.habits import HABITS_SCHEMA, habits_of, learn
from audit.storage import Database
from contracts.usage import Ceiling, Exceeded, Habits, Span, UsageKind, Use, mark_of

_SCHEMA = """
CREATE TABLE IF NOT EXISTS uses (
    key TEXT NOT NULL,
    kind TEXT NOT NULL,
    task_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    at REAL NOT NULL,
    amount REAL NOT NULL,
    PRIMARY KEY (key, kind)
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS uses_by_person ON uses (user_id, kind, at);
CREATE INDEX IF NOT EXISTS uses_by_task ON uses (task_id, kind);
CREATE INDEX IF NOT EXISTS uses_by_age ON uses (at);
"""
_WINDOWS: Mapping[Span, timedelta] = {"minute": timedelta(minutes=1), "hour": timedelta(hours=1)}
_KEPT = timedelta(days=45)
"""Longer than any task lives."""
_ROUNDING = 1e-9
"""Sums of fractions of a cent are not exact."""


class Meter:
    """Several processes and threads may share one file."""

    def __init__(self, database: Database, key: bytes, now: Callable[[], datetime]) -> None:
        self._database = database
        self._key = key
        self._now = now

    @classmethod
    async def open(cls, path: Path, key: bytes, now: Callable[[], datetime]) -> Self:
        """Destinations are marked with the key, which is kept elsewhere. Raises: StorageUnusable."""
        return cls(await Database.open(path, _SCHEMA + HABITS_SCHEMA), key, now)

    async def reserve(self, use: Use, ceilings: tuple[Ceiling, ...], *, force: bool = False) -> tuple[Exceeded, ...]:
        """Take the amounts at once, all or none; `force` takes them in any case. The same key again takes nothing more.

        A use that is forced counts from now on, even if it was reserved earlier.

        Raises: StorageUnusable; then nothing may be used.
        """

        def step(connection: sqlite3.Connection) -> tuple[Exceeded, ...]:
            now = self._now()
            if _is_reserved(connection, use.key):
                if force:
                    connection.execute("UPDATE uses SET at = ? WHERE key = ?", (now.timestamp(), use.key))
                return ()
            exceeded = () if force else tuple(_exceeded(connection, use, ceilings, now))
            if not exceeded:
                _insert(connection, use, now)
            return exceeded

        return await self._database.write(step)

    async def settle(self, key: str, amounts: dict[UsageKind, float]) -> None:
        """Replace what was reserved by what was really used; zero, or a kind that is not named, gives all back.

        Raises: StorageUnusable.
        """

        def step(connection: sqlite3.Connection) -> None:
            if not any(amounts.values()):
                connection.execute("DELETE FROM uses WHERE key = ?", (key,))
                return
            connection.execute("UPDATE uses SET amount = 0 WHERE key = ?", (key,))
            for kind, amount in amounts.items():
                connection.execute(
                    "INSERT INTO uses (key, kind, task_id, user_id, at, amount) "
                    "SELECT key, ?, task_id, user_id, at, ? FROM uses WHERE key = ? LIMIT 1 "
                    "ON CONFLICT (key, kind) DO UPDATE SET amount = excluded.amount",
                    (kind, amount, key),
                )

        await self._database.write(step)

    async def habits(self, user_id: str, now: datetime) -> Habits:
        """Raises: StorageUnusable."""
        key = self._key_of(user_id)
        return await self._database.read(lambda connection: habits_of(connection, user_id, now, key))

    async def learn(self, user_id: str, task_id: str, now: datetime, destinations: tuple[str, ...]) -> None:
        """Note one call that was let through, with where it went. Raises: StorageUnusable."""
        key = self._key_of(user_id)
        marks = tuple(dict.fromkeys(mark_of(destination, key) for destination in destinations))
        await self._database.write(lambda connection: learn(connection, user_id, now, marks))

    async def close(self) -> None:
        await self._database.close()

    def _key_of(self, user_id: str) -> str:
        return hmac.digest(self._key, user_id.encode("utf-8", "surrogatepass"), "sha256").hex()


def _is_reserved(connection: sqlite3.Connection, key: str) -> bool:
    return connection.execute("SELECT 1 FROM uses WHERE key = ? LIMIT 1", (key,)).fetchone() is not None


def _insert(connection: sqlite3.Connection, use: Use, now: datetime) -> None:
    connection.execute("DELETE FROM uses WHERE at < ?", ((now - _KEPT).timestamp(),))
    connection.executemany(
        "INSERT INTO uses (key, kind, task_id, user_id, at, amount) VALUES (?, ?, ?, ?, ?, ?)",
        [(use.key, kind, use.task_id, use.user_id, now.timestamp(), amount) for kind, amount in use.amounts.items()],
    )


def _exceeded(
    connection: sqlite3.Connection, use: Use, ceilings: tuple[Ceiling, ...], now: datetime
) -> Iterable[Exceeded]:
    for ceiling in ceilings:
        wanted = use.amounts.get(ceiling.kind, 0.0)
        if wanted <= 0:
            continue
        taken = _taken(connection, use, ceiling, now)
        used = sum(amount for _, amount in taken)
        if used + wanted > ceiling.most + _ROUNDING:
            frees_at = _frees_at(taken, ceiling, wanted, now)
            yield Exceeded(ceiling=ceiling, used=used, wanted=wanted, frees_at=frees_at)


def _taken(connection: sqlite3.Connection, use: Use, ceiling: Ceiling, now: datetime) -> list[tuple[float, float]]:
    """When and how much, oldest first, of what counts against a ceiling now."""
    if ceiling.span == "task":
        found = connection.execute(
            "SELECT at, amount FROM uses WHERE task_id = ? AND kind = ? ORDER BY at", (use.task_id, ceiling.kind)
        )
    else:
        start = _midnight(now) if ceiling.span == "day" else now - _WINDOWS[ceiling.span]
        found = connection.execute(
            # What is a moment ahead, since clocks are set back, counts as well.
            "SELECT at, amount FROM uses WHERE user_id = ? AND kind = ? AND at > ? ORDER BY at",
            (use.user_id, ceiling.kind, start.timestamp()),
        )
    return found.fetchall()


def _frees_at(taken: list[tuple[float, float]], ceiling: Ceiling, wanted: float, now: datetime) -> datetime | None:
    """When time alone makes room for what is wanted; None if it never does."""
    if ceiling.span == "task" or wanted > ceiling.most + _ROUNDING:
        return None
    if ceiling.span == "day":
        return _midnight(now) + timedelta(days=1)
    left = sum(amount for _, amount in taken)
    for at, amount in taken:
        left -= amount
        if left + wanted <= ceiling.most + _ROUNDING:
            return datetime.fromtimestamp(at, UTC) + _WINDOWS[ceiling.span]
    return now


def _midnight(now: datetime) -> datetime:
    return now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
