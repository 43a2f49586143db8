"""Which message became which task, and which messages have been dealt with."""

import time

from gateway.store import Store

KEEP_SECONDS = 30 * 86_400.0


class Requests:
    """Kept for a month in SQLite, so that a late second delivery changes nothing."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def handled(self, key: str) -> bool:
        return await self._store.row("SELECT 1 FROM handled WHERE key = ?", key) is not None

    async def handle(self, key: str) -> None:
        """To be called when everything that a message asks for is safe."""
        await self._store.write("INSERT OR IGNORE INTO handled VALUES (?, ?)", key, time.time())

    async def became(self, channel: str, chat_id: str, message_id: str, task_id: str) -> None:
        await self._store.write(
            "INSERT OR REPLACE INTO requests VALUES (?, ?, ?, ?, ?)",
            channel,
            chat_id,
            message_id,
            task_id,
            time.time(),
        )

    async def task_of(self, channel: str, chat_id: str, message_id: str) -> str | None:
        found = await self._store.row(
            "SELECT task_id FROM requests WHERE channel = ? AND chat_id = ? AND message_id = ?",
            channel,
            chat_id,
            message_id,
        )
        return str(found[0]) if found else None

    async def latest_task(self, channel: str, chat_id: str) -> str | None:
        """The newest task that a message of this chat started."""
        found = await self._store.row(
            "SELECT task_id FROM requests WHERE channel = ? AND chat_id = ? ORDER BY task_id DESC LIMIT 1",
            channel,
            chat_id,
        )
        return str(found[0]) if found else None

    async def tidy(self) -> None:
        """Forget what is older than a month."""
        await self._store.write("DELETE FROM handled WHERE at < ?", time.time() - KEEP_SECONDS)
        await self._store.write("DELETE FROM requests WHERE at < ?", time.time() - KEEP_SECONDS)
