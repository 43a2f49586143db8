"""The poll loop: asks for updates, and acknowledges by its next question what the intake holds for safe."""

import asyncio
import logging
from collections.abc import Callable
from datetime import UTC, datetime

from telegram import Bot, Update
from telegram.error import Conflict, InvalidToken, TelegramError

from gateway.channel import Liveness
from gateway.telegram.calling import Flood
from gateway.telegram.intake import Intake

ALLOWED_UPDATES = (Update.MESSAGE, Update.EDITED_MESSAGE, Update.CALLBACK_QUERY)
LONG_POLL_SECONDS = 25
BUSY_PAUSE_SECONDS = 0.25
"""While something is not safe yet, new updates are asked for this often, and the old ones come along."""
CONFLICT_PAUSE_SECONDS = 30.0
TOKEN_PAUSE_SECONDS = 60.0
FIRST_PAUSE_SECONDS = 0.5
LONGEST_PAUSE_SECONDS = 30.0

_log = logging.getLogger(__name__)


class Polling:
    """Runs until it is cancelled; `report` hears after each question whether Telegram answered."""

    def __init__(
        self,
        bot: Bot,
        intake: Intake,
        report: Callable[[Liveness], None],
        long_poll_seconds: int = LONG_POLL_SECONDS,
        conflict_pause_seconds: float = CONFLICT_PAUSE_SECONDS,
    ) -> None:
        self._bot = bot
        self._intake = intake
        self._report = report
        self._long_poll_seconds = long_poll_seconds
        self._conflict_pause_seconds = conflict_pause_seconds
        self._failures = 0

    async def run(self) -> None:
        while True:
            pause = await self._ask()
            if pause:
                await asyncio.sleep(pause)
            elif self._intake.busy:
                await self._intake.some_progress(BUSY_PAUSE_SECONDS)

    async def acknowledge(self) -> None:
        """Tells Telegram what is safe without waiting for anything new; to be called after the last `run`."""
        if self._intake.offset is None:
            return
        try:
            await self._bot.get_updates(offset=self._intake.offset, limit=1, timeout=0)
        except TelegramError as error:
            _log.warning("the last updates will come again: %s", type(error).__name__)

    async def _ask(self) -> float:
        """One question; gives the seconds to wait before the next."""
        timeout = 0 if self._intake.busy else self._long_poll_seconds
        try:
            updates = await self._bot.get_updates(
                offset=self._intake.offset, timeout=timeout, allowed_updates=ALLOWED_UPDATES
            )
        except Conflict as conflict:
            self._bad(f"another program reads this bot's messages: {conflict.message}")
            return self._conflict_pause_seconds
        except InvalidToken:
            self._bad("Telegram rejects the bot's token; get a valid one from @BotFather")
            return TOKEN_PAUSE_SECONDS
        except Flood as flood:
            return flood.seconds
        except TelegramError as error:
            self._failures += 1
            self._bad(f"Telegram does not answer: {type(error).__name__}")
            return min(LONGEST_PAUSE_SECONDS, FIRST_PAUSE_SECONDS * 2.0 ** min(self._failures, 8))
        self._failures = 0
        self._report(Liveness(True, datetime.now(UTC)))
        for update in updates:
            self._intake.offer(update)
        return 0.0

    def _bad(self, detail: str) -> None:
        _log.error("telegram: %s", detail)
        self._report(Liveness(False, datetime.now(UTC), detail))
