"""One rate budget for each chat and for the whole bot, slower for a while after the platform complained."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

CHAT_SECONDS = 1.0
"""Telegram asks for about one message a second in one chat."""
BOT_SECONDS = 1 / 25
"""And for about thirty a second in all."""
BURST = 3
MAX_SLOWNESS = 8.0
CALM_SECONDS = 60.0
_FORGET_CHATS = 10_000
_INSTANT_SECONDS = 0.001
"""Less than a clock of floating-point seconds can be trusted to move by."""


@dataclass
class _Budget:
    """A virtual clock that runs ahead of real time by what has been spent."""

    interval: float
    spent_until: float = 0.0
    blocked_until: float = 0.0
    slowness: float = 1.0
    complained_at: float = float("-inf")

    def wait(self, now: float, *, urgent: bool) -> float:
        """Seconds until the next call is allowed."""
        blocked = max(0.0, self.blocked_until - now)
        return blocked if urgent else max(blocked, self.spent_until - now - (BURST - 1) * self.interval)

    def spend(self, now: float) -> None:
        if now - self.complained_at > CALM_SECONDS:
            self.slowness = 1.0
        self.spent_until = max(self.spent_until, now) + self.interval * self.slowness

    def complain(self, now: float, seconds: float) -> None:
        self.slowness = min(MAX_SLOWNESS, self.slowness * 2)
        self.complained_at = self.blocked_until = now + seconds
        self.spent_until = max(self.spent_until, now + seconds + (BURST - 1) * self.interval)


class Pace:
    """Everything that goes out waits for its turn here."""

    def __init__(
        self,
        chat_seconds: float = CHAT_SECONDS,
        bot_seconds: float = BOT_SECONDS,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._chat_seconds = chat_seconds
        self._clock = clock
        self._sleep = sleep
        self._bot = _Budget(bot_seconds)
        self._chats: dict[str, _Budget] = {}

    async def turn(self, chat_id: str, *, urgent: bool = False) -> None:
        """Returns when one more call for this chat is within both budgets.

        What is urgent may overdraw the chat's budget, and what is not then waits longer; nothing goes out while the
        platform has asked to wait.
        """
        while (seconds := self.wait(chat_id, urgent=urgent)) > _INSTANT_SECONDS:
            await self._sleep(seconds)
        now = self._clock()
        self._chat(chat_id).spend(now)
        self._bot.spend(now)

    def wait(self, chat_id: str, *, urgent: bool = False) -> float:
        """Seconds until the next call for this chat."""
        now = self._clock()
        return max(self._chat(chat_id).wait(now, urgent=urgent), self._bot.wait(now, urgent=False))

    def complained(self, chat_id: str, retry_after_seconds: float) -> None:
        """The platform asked to wait: nothing goes to this chat before, and less often for a minute after."""
        self._chat(chat_id).complain(self._clock(), retry_after_seconds)

    def _chat(self, chat_id: str) -> _Budget:
        if len(self._chats) > _FORGET_CHATS:
            now = self._clock()
            self._chats = {key: budget for key, budget in self._chats.items() if budget.spent_until > now}
        return self._chats.setdefault(chat_id, _Budget(self._chat_seconds))
