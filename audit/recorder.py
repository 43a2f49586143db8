"""Writes events into the log: a person's and a sandbox's words are sealed first."""

import asyncio
import hashlib
from collections.abc import Callable

from audit.chain import canonical
from audit.log import AuditLog
from contracts.audit import Event

INLINE_CHARACTERS = 4_096
"""Longer words are sealed in a thread."""

MOST_CHARACTERS = 262_144
"""Of longer words only the digest is kept."""


class LogRecorder:
    """Satisfies contracts.audit.Recorder; `seal` also takes known secrets out."""

    def __init__(self, log: AuditLog, seal: Callable[[str], str]) -> None:
        self._log = log
        self._seal = seal

    async def record(self, event: Event) -> None:
        """Raises: StorageUnusable."""
        await self._log.append(event, await self._sealed(event))

    async def _sealed(self, event: Event) -> str:
        if not event.words:
            return ""
        text = canonical(event.words)
        if len(text) > MOST_CHARACTERS:
            text = canonical({"sha256": hashlib.sha256(text.encode()).hexdigest(), "characters": len(text)})
        if len(text) > INLINE_CHARACTERS:
            return await asyncio.to_thread(self._seal, text)
        return self._seal(text)
