"""Calls to the Bot API, with its errors in the words of channels. No error text holds the bot's token."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from json import JSONDecodeError, loads
from typing import Any

import httpx
from telegram.error import BadRequest, ChatMigrated, Conflict, Forbidden, InvalidToken, NetworkError, TelegramError
from telegram.request import HTTPXRequest

from gateway.channel import ChannelBusy, ChannelUnreachable, ChatGone, MessageGone, PageRefused

DEFAULT_WAIT_SECONDS = 5.0

_NOTHING_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
_GONE_CHATS = (
    "chat not found",
    "user is deactivated",
    "have no rights to send",
    "not enough rights",
    "bot was kicked",
    "bot is not a member",
    "chat_write_forbidden",
    "group chat was upgraded",
    "topic_closed",
    "message thread not found",
)
_GONE_MESSAGES = (
    "message to edit not found",
    "message can't be edited",
    "message_id_invalid",
    "there is no text in the message to edit",
)


class Flood(TelegramError):
    """Raised when Telegram asks to wait."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"flood control for {seconds:g} s")
        self.seconds = seconds


class NotModified(Exception):
    """Raised when an edit would change nothing: it is done already."""


class CannotParse(Exception):
    """Raised when Telegram does not understand the formatting."""


class Request(HTTPXRequest):
    """The library's HTTP, except that a request to wait arrives with its seconds and no deprecation warning."""

    async def do_request(self, *args: Any, **options: Any) -> tuple[int, bytes]:
        code, payload = await super().do_request(*args, **options)
        if code == httpx.codes.TOO_MANY_REQUESTS:
            raise Flood(_wanted_wait(payload))
        return code, payload


@asynccontextmanager
async def calling() -> AsyncIterator[None]:
    """Raises: ChatGone, MessageGone, ChannelBusy, ChannelUnreachable, PageRefused, NotModified, CannotParse."""
    try:
        yield
    except Flood as flood:
        raise ChannelBusy(flood.seconds) from None
    except (Forbidden, ChatMigrated) as error:
        raise ChatGone(error.message) from None
    except BadRequest as error:
        raise _of_bad_request(error.message) from None
    except InvalidToken:
        raise ChannelUnreachable("Telegram rejects the bot's token", maybe_done=False) from None
    except Conflict as error:
        raise ChannelUnreachable(error.message, maybe_done=False) from None
    except NetworkError as error:
        raise _of_network(error) from None


def _of_bad_request(text: str) -> Exception:
    lower = text.lower()
    if "message is not modified" in lower:
        return NotModified(text)
    if "can't parse entities" in lower:
        return CannotParse(text)
    if any(each in lower for each in _GONE_MESSAGES):
        return MessageGone(text)
    if any(each in lower for each in _GONE_CHATS):
        return ChatGone(text)
    return PageRefused(text)


def _of_network(error: NetworkError) -> Exception:
    cause = error.__cause__
    if isinstance(cause, httpx.HTTPError):
        return ChannelUnreachable(f"Telegram: {type(cause).__name__}", maybe_done=not isinstance(cause, _NOTHING_SENT))
    if "Entity Too Large" in error.message:
        return PageRefused(error.message)
    return ChannelUnreachable(f"Telegram: {error.message}", maybe_done=False)


def _wanted_wait(payload: bytes) -> float:
    try:
        return float(loads(payload)["parameters"]["retry_after"])
    except (JSONDecodeError, KeyError, TypeError, ValueError, UnicodeDecodeError):
        return DEFAULT_WAIT_SECONDS
