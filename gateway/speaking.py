"""Says things through a channel at most once each, within the rate budget."""

import logging

from contracts.delivery import Notice
from contracts.messages import Address
from gateway.channel import (
    Channel,
    ChannelBusy,
    ChannelUnreachable,
    ChatGone,
    FilePage,
    MessageGone,
    Page,
    PageRefused,
)
from gateway.outbox import Outbox, Slot
from gateway.pace import Pace
from gateway.rich import cut, plain

PATIENCE_SECONDS = 20.0
"""A longer wait is given back to the caller, whose own timer then runs it."""

PLACEHOLDER = Page((plain("⏳ …"),))

_log = logging.getLogger(__name__)


class Speaker:
    """The one way out of the gateway for one channel."""

    def __init__(self, channel: Channel, outbox: Outbox, pace: Pace) -> None:
        self.channel = channel
        self._outbox = outbox
        self._pace = pace

    async def show(self, address: Address, owner: str, index: int, page: Page | FilePage) -> str:
        """Makes the slot's message look like `page`; gives the message's id.

        A send cannot be taken back and an edit can be repeated: only a placeholder is ever sent here.
        Raises: ChatGone, ChannelBusy, ChannelUnreachable, PageRefused.
        """
        slot = await self._outbox.slot(owner, index)
        if slot is not None and slot.message_id is not None and slot.shown == page.digest():
            return slot.message_id
        try:
            message_id = await self._message_id(address, owner, index, slot)
            await self._change(address, message_id, page)
        except MessageGone:
            message_id = await self._place(address, owner, index)
            await self._change(address, message_id, page)
        await self._outbox.shows(owner, index, page.digest())
        return message_id

    async def notify(self, notice: Notice) -> None:
        """Says something outside any task; in doubt whether it was said, it is not said again.

        Raises: ChannelUnreachable or ChannelBusy if it certainly was not said.
        """
        owner = f"notice/{notice.key}"
        if await self._outbox.slot(owner, 0) is not None:
            return
        page = Page(cut((plain(notice.text),), self.channel.capabilities.max_text)[0])
        try:
            await self._place(notice.address, owner, 0, page, urgent=True)
        except (ChatGone, PageRefused) as refused:
            _log.warning("a notice was refused: %s", refused)

    async def _message_id(self, address: Address, owner: str, index: int, slot: Slot | None) -> str:
        if slot is not None and slot.message_id is not None:
            return slot.message_id
        return await self._place(address, owner, index)

    async def _place(
        self, address: Address, owner: str, index: int, page: Page = PLACEHOLDER, *, urgent: bool = False
    ) -> str:
        await self._outbox.sending(owner, index, address)
        try:
            message_id = await self._patiently_send(address, page, urgent=urgent)
        except ChannelUnreachable as failed:
            if not failed.maybe_done:
                await self._outbox.forget(owner, index)
            raise
        except (ChannelBusy, PageRefused, ChatGone):
            await self._outbox.forget(owner, index)
            raise
        await self._outbox.sent(owner, index, message_id)
        return message_id

    async def _patiently_send(self, address: Address, page: Page, *, urgent: bool) -> str:
        while True:
            await self._turn(address, urgent=urgent)
            try:
                return await self.channel.send(address, page)
            except ChannelBusy as busy:
                self._complained(address, busy)

    async def _change(self, address: Address, message_id: str, page: Page | FilePage) -> None:
        while True:
            await self._turn(address)
            try:
                if isinstance(page, Page):
                    return await self.channel.edit(address, message_id, page)
                return await self.channel.show_file(address, message_id, page)
            except ChannelBusy as busy:
                self._complained(address, busy)

    async def _turn(self, address: Address, *, urgent: bool = False) -> None:
        seconds = self._pace.wait(address.chat_id, urgent=urgent)
        if seconds > PATIENCE_SECONDS:
            raise ChannelBusy(seconds)
        await self._pace.turn(address.chat_id, urgent=urgent)

    def _complained(self, address: Address, busy: ChannelBusy) -> None:
        self._pace.complained(address.chat_id, busy.retry_after_seconds)
        _log.warning("%s: slowed down for chat %s, %s", self.channel.name, address.chat_id, busy)
