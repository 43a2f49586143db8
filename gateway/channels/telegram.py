"""The channel Telegram: one bot, reached by polling or by webhook."""

import asyncio
import logging
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256

from telegram import (
    Bot,
    Update,
)
from telegram.error import TelegramError

from contracts.messages import Address
from contracts.texts import gateway as texts
from gateway.channel import (
    Capabilities,
    ChannelBusy,
    ChannelUnreachable,
    FilePage,
    Inbox,
    Incoming,
    Liveness,
    Page,
    PageRefused,
    Pressed,
)
from gateway.desk import DeskUnreachable
from gateway.rich import clip
from gateway.telegram.calling import Request, calling
from gateway.telegram.incoming import NAME, lane, read
from gateway.telegram.intake import Intake
from gateway.telegram.menu import offer_menu
from gateway.telegram.polling import ALLOWED_UPDATES, CONFLICT_PAUSE_SECONDS, LONG_POLL_SECONDS, Polling
from gateway.telegram.writing import Writing

CAPABILITIES = Capabilities(
    edit=True,
    buttons=True,
    files=True,
    pushes=True,
    max_text=4_096,
    max_file_bytes=50 * 1024 * 1024,
    max_fetch_bytes=20 * 1024 * 1024,
)
TOAST_CHARACTERS = 190
LIVE_SECONDS = 120.0
"""A channel that has not answered for so long is not connected."""
CHECK_SECONDS = 60.0
HAND_ON_SECONDS = 5.0
RETRY_SECONDS = 5.0

_log = logging.getLogger(__name__)


class Telegram:
    """Satisfies Channel. `start` it with an inbox, `stop` it, and `close` it when nothing more is to be said."""

    def __init__(
        self,
        token: str,
        base_url: str,
        base_file_url: str,
        webhook_url: str = "",
        read_timeout_seconds: float = 10.0,
        long_poll_seconds: int = LONG_POLL_SECONDS,
        conflict_pause_seconds: float = CONFLICT_PAUSE_SECONDS,
    ) -> None:
        self._requests = (
            Request(read_timeout=read_timeout_seconds, media_write_timeout=60.0),
            Request(connection_pool_size=2, read_timeout=read_timeout_seconds),
        )
        asking, polling = self._requests
        self._bot = Bot(token, base_url, base_file_url, request=asking, get_updates_request=polling)
        self._writing = Writing(self._bot)
        self._webhook_url = webhook_url.rstrip("/")
        self.webhook_secret = sha256(f"webhook:{token}".encode()).hexdigest()
        """The last part of the webhook's path, and the token that Telegram sends along."""
        self._long_poll_seconds = long_poll_seconds
        self._conflict_pause_seconds = conflict_pause_seconds
        self._inbox: Inbox | None = None
        self._intake = Intake(self._handle, self._give_up, lane)
        self._tasks: list[asyncio.Task[None]] = []
        self._liveness = Liveness(False, None, "has not started")
        self._warned: set[str] = set()

    @property
    def name(self) -> str:
        return NAME

    @property
    def capabilities(self) -> Capabilities:
        return CAPABILITIES

    @property
    def liveness(self) -> Liveness:
        """Connected only if Telegram has answered within LIVE_SECONDS."""
        seen = self._liveness.checked_at
        late = seen is None or (datetime.now(UTC) - seen).total_seconds() > LIVE_SECONDS
        return replace(self._liveness, connected=self._liveness.connected and not late)

    def start(self, inbox: Inbox) -> None:
        """Returns at once; whether Telegram can be reached shows in `liveness`."""
        self._inbox = inbox
        self._tasks.append(asyncio.create_task(self._run()))

    async def stop(self) -> None:
        """Takes nothing new, lets what is under way become safe, and acknowledges it. Twice is no harm."""
        if self._inbox is None:
            return
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._intake.close(HAND_ON_SECONDS)
        if not self._webhook_url and self._liveness.connected:
            await self._polling().acknowledge()
        self._inbox = None

    async def close(self) -> None:
        """Close the connections; after it nothing can be said any more."""
        for request in self._requests:
            await request.shutdown()

    async def take(self, body: object) -> None:
        """One update that came by webhook; returns when it is safe.

        Raises: ValueError for what is no update, DeskUnreachable if it is not safe in time.
        """
        update = Update.de_json(body, self._bot) if isinstance(body, dict) and "update_id" in body else None
        if update is None:
            raise ValueError("not an update")
        task = self._intake.offer(update)
        _, waiting = await asyncio.wait([task], timeout=HAND_ON_SECONDS)
        if waiting:
            raise DeskUnreachable(f"update {update.update_id} is not safe yet")

    async def send(self, address: Address, page: Page) -> str:
        return await self._writing.send(address, page)

    async def edit(self, address: Address, message_id: str, page: Page) -> None:
        await self._writing.edit(address, message_id, page)

    async def show_file(self, address: Address, message_id: str, file: FilePage) -> None:
        await self._writing.show_file(address, message_id, file)

    async def _run(self) -> None:
        while True:
            if await self._begin():
                break
            await asyncio.sleep(RETRY_SECONDS)
        if self._webhook_url:
            await self._watch()
        else:
            await self._polling().run()

    async def _begin(self) -> bool:
        """Get to know the bot, and tell Telegram where updates go. False if it did not answer."""
        try:
            async with calling():
                await self._bot.initialize()
                await offer_menu(self._bot, "en")
                await offer_menu(self._bot, "zh")
                if self._webhook_url:
                    url = f"{self._webhook_url}/telegram/{self.webhook_secret}"
                    await self._bot.set_webhook(url, allowed_updates=ALLOWED_UPDATES, secret_token=self.webhook_secret)
                else:
                    await self._bot.delete_webhook()
        except (ChannelUnreachable, ChannelBusy, PageRefused, TelegramError) as error:
            _log.error("telegram does not start: %s", error)
            self._report(Liveness(False, datetime.now(UTC), str(error)))
            return False
        self._report(Liveness(True, datetime.now(UTC)))
        return True

    async def _watch(self) -> None:
        """With a webhook nothing tells that the bot still works, so it is asked."""
        while True:
            await asyncio.sleep(CHECK_SECONDS)
            try:
                async with calling():
                    await self._bot.get_me()
            except (ChannelUnreachable, ChannelBusy) as error:
                self._report(Liveness(False, datetime.now(UTC), str(error)))
            else:
                self._report(Liveness(True, datetime.now(UTC)))

    def _polling(self) -> Polling:
        return Polling(self._bot, self._intake, self._report, self._long_poll_seconds, self._conflict_pause_seconds)

    def _report(self, liveness: Liveness) -> None:
        self._liveness = liveness

    async def _handle(self, update: Update) -> None:
        said = read(update, self._bot)
        if isinstance(said, Incoming):
            await self._open_inbox.receive(said)
        elif isinstance(said, Pressed):
            await self._press(said)

    async def _press(self, pressed: Pressed) -> None:
        try:
            text = await self._open_inbox.press(pressed)
        except DeskUnreachable:
            if pressed.press_id not in self._warned:
                self._warned.add(pressed.press_id)
                await self._toast(pressed, texts.NOT_REACHABLE.say(pressed.language))
            raise
        if pressed.press_id not in self._warned:
            await self._toast(pressed, text)
        self._warned.discard(pressed.press_id)

    async def _toast(self, pressed: Pressed, text: str) -> None:
        """The short text at a pressed button; too late for it is no harm."""
        try:
            async with calling():
                await self._bot.answer_callback_query(pressed.press_id, clip(text, TOAST_CHARACTERS))
        except (ChannelUnreachable, ChannelBusy, PageRefused) as error:
            _log.info("a button press was not answered: %s", error)

    async def _give_up(self, update: Update) -> None:
        said = read(update, self._bot)
        if isinstance(said, Incoming):
            await self._open_inbox.apologise(said)

    @property
    def _open_inbox(self) -> Inbox:
        if self._inbox is None:
            raise LookupError("the channel has not been started")
        return self._inbox
