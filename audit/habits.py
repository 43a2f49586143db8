"""What each person usually does, from the calls that were let through: hours, places, and how many in a minute."""

import sqlite3
from datetime import UTC, datetime

from contracts.usage import Habits

HABITS_SCHEMA = """
CREATE TABLE IF NOT EXISTS people (
    user_id TEXT PRIMARY KEY,
    calls INTEGER NOT NULL,
    busiest INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS hours (
    user_id TEXT NOT NULL,
    hour INTEGER NOT NULL,
    calls INTEGER NOT NULL,
    PRIMARY KEY (user_id, hour)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS recent (
    user_id TEXT NOT NULL,
    at REAL NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS recent_by_person ON recent (user_id, at);
CREATE TABLE IF NOT EXISTS places (
    user_id TEXT NOT NULL,
    mark TEXT NOT NULL,
    at REAL NOT NULL,
    PRIMARY KEY (user_id, mark)
) STRICT, WITHOUT ROWID;
"""
PLACES = 500
"""So many destinations of one person are remembered, the last ones."""
_HOUR = 3_600.0
_MINUTE = 60.0


def learn(connection: sqlite3.Connection, user_id: str, now: datetime, marks: tuple[str, ...]) -> None:
    """Note one call and where it went."""
    at = now.timestamp()
    connection.execute(
        "INSERT INTO people (user_id, calls, busiest) VALUES (?, 1, 0) "
        "ON CONFLICT (user_id) DO UPDATE SET calls = calls + 1",
        (user_id,),
    )
    connection.execute(
        "INSERT INTO hours (user_id, hour, calls) VALUES (?, ?, 1) "
        "ON CONFLICT (user_id, hour) DO UPDATE SET calls = calls + 1",
        (user_id, now.astimezone(UTC).hour),
    )
    connection.execute("INSERT INTO recent (user_id, at) VALUES (?, ?)", (user_id, at))
    connection.executemany(
        "INSERT INTO places (user_id, mark, at) VALUES (?, ?, ?) ON CONFLICT (user_id, mark) DO UPDATE SET at = ?",
        [(user_id, mark, at, at) for mark in marks],
    )
    _forget(connection, user_id, at)


def habits_of(connection: sqlite3.Connection, user_id: str, now: datetime, key: str) -> Habits:
    """What is known of a person; nothing of somebody who is new."""
    found = connection.execute("SELECT calls, busiest FROM people WHERE user_id = ?", (user_id,)).fetchone()
    if found is None:
        return Habits(key=key)
    at = now.timestamp()
    by_hour = dict(connection.execute("SELECT hour, calls FROM hours WHERE user_id = ?", (user_id,)))
    places = connection.execute("SELECT mark FROM places WHERE user_id = ? ORDER BY at", (user_id,))
    return Habits(
        calls=found[0],
        hours=tuple(by_hour.get(hour, 0) for hour in range(24)),
        destinations=tuple(mark for (mark,) in places),
        last_minute=_calls_since(connection, user_id, at - _MINUTE),
        last_hour=_calls_since(connection, user_id, at - _HOUR),
        busiest_minute=max(found[1], _busiest(connection, user_id, at - _HOUR)),
        key=key,
    )


def _calls_since(connection: sqlite3.Connection, user_id: str, at: float) -> int:
    found = connection.execute("SELECT COUNT(*) FROM recent WHERE user_id = ? AND at > ?", (user_id, at)).fetchone()
    return int(found[0])


def _busiest(connection: sqlite3.Connection, user_id: str, until: float) -> int:
    found = connection.execute(
        "SELECT COUNT(*) AS calls FROM recent WHERE user_id = ? AND at <= ? "
        "GROUP BY CAST(at / ? AS INTEGER) ORDER BY calls DESC LIMIT 1",
        (user_id, until, _MINUTE),
    ).fetchone()
    return int(found[0]) if found else 0


def _forget(connection: sqlite3.Connection, user_id: str, at: float) -> None:
    """Of calls that are more than an hour old only their busiest minute stays, of places only the last ones."""
    # A whole minute at a time: half of one would count as a quieter one.
    until = (at - _HOUR) // _MINUTE * _MINUTE - 1e-6
    busiest = _busiest(connection, user_id, until)
    if busiest:
        connection.execute("UPDATE people SET busiest = MAX(busiest, ?) WHERE user_id = ?", (busiest, user_id))
        connection.execute("DELETE FROM recent WHERE user_id = ? AND at <= ?", (user_id, until))
    connection.execute(
        "DELETE FROM places WHERE user_id = ? AND mark NOT IN "
        "(SELECT mark FROM places WHERE user_id = ? ORDER BY at DESC LIMIT ?)",
        (user_id, user_id, PLACES),
    )
