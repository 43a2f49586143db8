"""What people have allowed for good: sealed rows that every process of the machine reads anew, so that a revocation
holds at once."""

import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path
from typing import Protocol, Self

from audit.storage import Database
from contracts.approvals import StandingRule

_SCHEMA = """
CREATE TABLE IF NOT EXISTS standing (
    rule_id TEXT NOT NULL PRIMARY KEY,
    user_id TEXT NOT NULL,
    sealed BLOB,  -- NULL once revoked: the row stays so that a late retry does not bring the rule back
    revoked_by TEXT,
    revoked_at TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS standing_of ON standing (user_id);
"""


class Sealer(Protocol):
    """Encrypts small texts; what was sealed for one place does not open in another."""

    def seal(self, plain: bytes, associated: bytes, /) -> bytes: ...

    def unseal(self, box: bytes, associated: bytes, /) -> bytes: ...


@asynccontextmanager
async def standing_in(path: Path, sealer: Sealer) -> AsyncIterator["Standing"]:
    """The store, open for the length of the block. Raises: StorageUnusable."""
    standing = await Standing.open(path, sealer)
    try:
        yield standing
    finally:
        await standing.close()


class Standing:
    """Satisfies contracts.approvals.StandingRules."""

    def __init__(self, database: Database, sealer: Sealer) -> None:
        self._database = database
        self._sealer = sealer

    @classmethod
    async def open(cls, path: Path, sealer: Sealer) -> Self:
        """Raises: StorageUnusable."""
        return cls(await Database.open(path, _SCHEMA), sealer)

    async def of(self, user_id: str, task_id: str, now: datetime) -> tuple[StandingRule, ...]:
        """Raises: StorageUnusable; then the question is put anew later, and nothing passes."""
        rules = await self.all(user_id, now)
        return tuple(rule for rule in rules if rule.task_id in (None, task_id))

    async def all(self, user_id: str | None, now: datetime) -> tuple[StandingRule, ...]:
        """Those in force for a person in any task, oldest first; None lists everybody's. Raises: StorageUnusable."""

        def step(connection: sqlite3.Connection) -> list[tuple[str, str, bytes]]:
            found = connection.execute(
                "SELECT rule_id, user_id, sealed FROM standing "
                "WHERE sealed IS NOT NULL AND user_id = coalesce(?, user_id)",
                (user_id,),
            )
            return found.fetchall()

        rules = self._opened(await self._database.read(step))
        return tuple(sorted((rule for rule in rules if _holds(rule, now)), key=lambda rule: rule.at))

    async def add(self, rule: StandingRule) -> None:
        """The same id again changes nothing, also after it was revoked. Raises: StorageUnusable."""
        box = self._sealer.seal(rule.model_dump_json().encode(), _place(rule.rule_id, rule.user_id))

        def step(connection: sqlite3.Connection) -> None:
            connection.execute(
                "INSERT INTO standing (rule_id, user_id, sealed) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
                (rule.rule_id, rule.user_id, box),
            )

        await self._database.write(step)

    async def revoke(self, rule_id: str, user_id: str | None, by: str, now: datetime) -> bool:
        """Take a rule back; False if none with this id is in force (of this person, unless that is None).

        Raises: StorageUnusable.
        """

        def step(connection: sqlite3.Connection) -> bool:
            done = connection.execute(
                "UPDATE standing SET sealed = NULL, revoked_by = ?, revoked_at = ? "
                "WHERE rule_id = ? AND sealed IS NOT NULL AND user_id = coalesce(?, user_id)",
                (by, now.isoformat(), rule_id, user_id),
            )
            return done.rowcount == 1

        return await self._database.write(step)

    async def close(self) -> None:
        await self._database.close()

    def _opened(self, rows: list[tuple[str, str, bytes]]) -> Iterator[StandingRule]:
        for rule_id, user_id, box in rows:
            yield StandingRule.model_validate_json(self._sealer.unseal(box, _place(rule_id, user_id)))


def _holds(rule: StandingRule, now: datetime) -> bool:
    return rule.expires_at is None or now < rule.expires_at


def _place(rule_id: str, user_id: str) -> bytes:
    return f"standing\0{user_id}\0{rule_id}".encode("utf-8", "surrogatepass")
