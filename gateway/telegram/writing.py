"""Writes pages into Telegram: formatted, else plain, and never with a link preview."""

import contextlib
import logging
from collections.abc import Sequence

from telegram import (
    Bot,
    InlineKeyboardButton,
    InlineKeyboardMarkup,
    InputFile,
    InputMediaDocument,
    InputMediaPhoto,
    LinkPreviewOptions,
    ReplyParameters,
)
from telegram.constants import ParseMode

from contracts.messages import Address
from gateway.channel import Button, FilePage, Page
from gateway.rich import clip, text_of
from gateway.telegram.calling import CannotParse, NotModified, calling
from gateway.telegram.html import to_html
from gateway.wording import clean

MAX_PHOTO_BYTES = 10 * 1024 * 1024
MAX_CAPTION = 1_000
PHOTO_TYPES = frozenset({"image/png", "image/jpeg"})

_NO_PREVIEW = LinkPreviewOptions(is_disabled=True)
_log = logging.getLogger(__name__)


class Writing:
    """The three calls of a channel that reach a person."""

    def __init__(self, bot: Bot) -> None:
        self._bot = bot

    async def send(self, address: Address, page: Page) -> str:
        try:
            return await self._send(address, to_html(page.spans), ParseMode.HTML, page)
        except CannotParse as error:
            _log.warning("sent as plain text: %s", error)
            return await self._send(address, text_of(page.spans), None, page)

    async def edit(self, address: Address, message_id: str, page: Page) -> None:
        with contextlib.suppress(NotModified):
            try:
                await self._edit(address, message_id, to_html(page.spans), ParseMode.HTML, page)
            except CannotParse as error:
                _log.warning("shown as plain text: %s", error)
                await self._edit(address, message_id, text_of(page.spans), None, page)

    async def show_file(self, address: Address, message_id: str, file: FilePage) -> None:
        content = InputFile(file.content, filename=file.name, attach=True)
        caption = clip(file.caption, MAX_CAPTION) or None
        photo = file.media_type in PHOTO_TYPES and len(file.content) <= MAX_PHOTO_BYTES
        media = InputMediaPhoto(content, caption) if photo else InputMediaDocument(content, caption)
        with contextlib.suppress(NotModified):
            async with calling():
                await self._bot.edit_message_media(media, chat_id=address.chat_id, message_id=int(message_id))

    async def _send(self, address: Address, text: str, parse_mode: str | None, page: Page) -> str:
        reply = address.reply_to
        async with calling():
            message = await self._bot.send_message(
                chat_id=address.chat_id,
                text=clean(text),
                parse_mode=parse_mode,
                reply_markup=_keyboard(page.buttons),
                link_preview_options=_NO_PREVIEW,
                message_thread_id=int(address.thread_id) if address.thread_id else None,
                reply_parameters=ReplyParameters(int(reply), allow_sending_without_reply=True) if reply else None,
            )
        return str(message.message_id)

    async def _edit(self, address: Address, message_id: str, text: str, parse_mode: str | None, page: Page) -> None:
        async with calling():
            await self._bot.edit_message_text(
                clean(text),
                chat_id=address.chat_id,
                message_id=int(message_id),
                parse_mode=parse_mode,
                reply_markup=_keyboard(page.buttons),
                link_preview_options=_NO_PREVIEW,
            )


def _keyboard(rows: Sequence[Sequence[Button]]) -> InlineKeyboardMarkup | None:
    if not rows:
        return None
    return InlineKeyboardMarkup(
        [[InlineKeyboardButton(button.label, callback_data=button.data) for button in row] for row in rows]
    )
