"""Who may speak: people are paired by a one-time code, and nobody else is listened to."""

import asyncio
import hashlib
import hmac
import secrets
import sqlite3
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Literal

from audit.storage import StorageUnusable
from contracts.audit import Event, NoRecord, Recorder
from gateway.access import Access, AsPaired, Standing
from gateway.store import Store, StoreUnusable

CODE_LIFE = timedelta(minutes=30)
CODE_CHARACTERS = 8
ALPHABET = "ABCDEFGHJKMNPQRSTVWXYZ23456789"
"""No 0, 1, I, L, O, U: people type codes."""

TRIES_PER_CHAT = 5
TRIES_IN_ALL = 30
TRY_WINDOW_SECONDS = 3600.0
STRANGER_WINDOW_SECONDS = 86_400.0
STRANGERS_IN_ALL = 20
"""So many neutral replies a day, whoever writes."""

OWNER = "owner"
MEMBER = "member"

Claim = Literal["paired", "wrong", "too_many"]


@dataclass(frozen=True)
class Person:
    """Somebody who may speak, on one channel."""

    channel: str
    user_id: str
    name: str
    role: str


@dataclass(frozen=True)
class OpenCode:
    """A code that can still be used; the code itself is nowhere kept."""

    role: str
    expires_at: datetime


class Pairing:
    """People and codes in SQLite. It is asked anew for every message, so that a removal holds at once; and so do the
    owner's rules, which win over what is stored."""

    def __init__(
        self,
        store: Store,
        clock: Callable[[], float] = time.time,
        access: Access | None = None,
        recorder: Recorder | None = None,
    ) -> None:
        self._store = store
        self._clock = clock
        self._access = access or AsPaired()
        self._recorder = recorder or NoRecord()

    async def new_code(self, role: str | None = None, life: timedelta = CODE_LIFE) -> str:
        """Makes the one valid code; earlier ones end. It is shown to the person now or never: only its hash is kept.

        Without a role it is for the owner, and once there is one, for a member.
        """
        role = role or (MEMBER if await self.owned() else OWNER)
        code = "".join(secrets.choice(ALPHABET) for _ in range(CODE_CHARACTERS))
        salt = secrets.token_bytes(16)
        digest = await asyncio.to_thread(_digest, code, salt)
        expires_at = self._clock() + life.total_seconds()

        def replace(connection: sqlite3.Connection) -> None:
            connection.execute("DELETE FROM codes")
            connection.execute("DELETE FROM tries WHERE kind = 'code'")
            connection.execute(
                "INSERT INTO codes (salt, digest, role, expires_at) VALUES (?, ?, ?, ?)",
                (salt, digest, role, expires_at),
            )

        await self._store.work(replace)
        return f"{code[:4]}-{code[4:]}"

    async def current_code(self) -> OpenCode | None:
        """Whether a code waits to be used, for whom, and until when."""
        found = await self._store.row("SELECT role, expires_at FROM codes WHERE expires_at > ?", self._clock())
        if found is None:
            return None
        return OpenCode(str(found[0]), datetime.fromtimestamp(float(found[1] or 0), UTC))

    async def claim(self, channel: str, chat_id: str, user_id: str, name: str, text: str) -> Claim:
        """Pair whoever says the code; it works once, and guessing is bounded per chat and in all.

        Raises: StoreUnusable; then nobody is paired.
        """
        claim = await self._claimed(channel, chat_id, user_id, name, text)
        paired = claim == "paired"
        event = Event(
            kind="pairing" if paired else "pairing.refused",
            actor=f"{channel}:{user_id}",
            data={"outcome": claim},
            words={"name": name, "chat_id": chat_id},
        )
        try:
            await self._recorder.record(event)
        except StorageUnusable as error:
            if paired:
                await self.remove(channel, user_id)
            raise StoreUnusable(f"a pairing cannot be written down: {error}") from error
        return claim

    async def _claimed(self, channel: str, chat_id: str, user_id: str, name: str, text: str) -> Claim:
        if not await self._may_try(channel, chat_id):
            return "too_many"
        found = await self._store.row("SELECT id, salt, digest, role FROM codes WHERE expires_at > ?", self._clock())
        if found is None:
            return "wrong"
        code_id, salt, digest, role = found
        said = await asyncio.to_thread(_digest, _normal(text), _bytes(salt))
        if not hmac.compare_digest(said, _bytes(digest)):
            return "wrong"
        if await self._store.write("DELETE FROM codes WHERE id = ?", code_id) == 0:
            return "wrong"
        await self.add(Person(channel, user_id, name, str(role)))
        return "paired"

    async def add(self, person: Person) -> None:
        await self._store.write(
            "INSERT OR REPLACE INTO people VALUES (?, ?, ?, ?, ?)",
            person.channel,
            person.user_id,
            person.name,
            person.role,
            self._clock(),
        )

    async def remove(self, channel: str, user_id: str) -> bool:
        """From now on they are a stranger; gives whether they were not one before."""
        changed = await self._store.write("DELETE FROM people WHERE channel = ? AND user_id = ?", channel, user_id)
        return changed > 0

    async def person(self, channel: str, user_id: str) -> Person | None:
        """Somebody who may speak now, with the role that they have now."""
        found = await self._store.row(
            "SELECT name, role FROM people WHERE channel = ? AND user_id = ?", channel, user_id
        )
        standing = await self._standing(channel, user_id)
        if found is None or standing.blocked:
            return None
        return Person(channel, user_id, str(found[0]), standing.role or str(found[1]))

    async def is_blocked(self, channel: str, user_id: str) -> bool:
        """Whether the owner's rules refuse them at once; then no code helps, and nothing is answered."""
        return (await self._standing(channel, user_id)).blocked

    async def people(self) -> list[Person]:
        """Those who may speak now, in the order of their pairing."""
        found = await self._store.rows("SELECT channel, user_id, name, role FROM people ORDER BY paired_at")
        stored = [Person(str(channel), str(user), str(name), str(role)) for channel, user, name, role in found]
        standings = [await self._standing(person.channel, person.user_id) for person in stored]
        return [
            replace(person, role=standing.role or person.role)
            for person, standing in zip(stored, standings, strict=True)
            if not standing.blocked
        ]

    async def owned(self) -> bool:
        """Whether an owner is paired."""
        return await self._store.row("SELECT 1 FROM people WHERE role = ?", OWNER) is not None

    async def may_greet(self, channel: str, chat_id: str) -> bool:
        """Whether a stranger in this chat gets the neutral reply now: once a day, and only so many strangers."""
        return await self._count("stranger", channel, chat_id, 1, STRANGERS_IN_ALL, STRANGER_WINDOW_SECONDS)

    async def _standing(self, channel: str, user_id: str) -> Standing:
        return await asyncio.to_thread(self._access.standing, f"{channel}:{user_id}")

    async def _may_try(self, channel: str, chat_id: str) -> bool:
        return await self._count("code", channel, chat_id, TRIES_PER_CHAT, TRIES_IN_ALL, TRY_WINDOW_SECONDS)

    async def _count(
        self, kind: str, channel: str, chat_id: str, per_chat: int, in_all: int, window_seconds: float
    ) -> bool:
        now = self._clock()

        def step(connection: sqlite3.Connection) -> bool:
            connection.execute("DELETE FROM tries WHERE kind = ? AND at < ?", (kind, now - window_seconds))
            count = "SELECT COUNT(*), COALESCE(SUM(channel = ? AND chat_id = ?), 0) FROM tries WHERE kind = ?"
            everywhere, here = connection.execute(count, (channel, chat_id, kind)).fetchone()
            if here >= per_chat or everywhere >= in_all:
                return False
            connection.execute("INSERT INTO tries VALUES (?, ?, ?, ?)", (channel, chat_id, kind, now))
            return True

        return await self._store.work(step)


def looks_like_code(text: str) -> bool:
    """Whether somebody means to say a code; anything else is not a try."""
    normal = _normal(text)
    return len(normal) == CODE_CHARACTERS and all(character in ALPHABET for character in normal)


def _normal(text: str) -> str:
    return text.strip().upper().replace("-", "").replace(" ", "")


def _digest(code: str, salt: bytes) -> bytes:
    # A code has 39 bits and lives for minutes; scrypt keeps a stolen file from giving it away in that time.
    return hashlib.scrypt(code.encode("utf-8", "replace")[:64], salt=salt, n=2**14, r=8, p=1)


def _bytes(value: object) -> bytes:
    return value if isinstance(value, bytes) else b""
