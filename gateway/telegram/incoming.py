"""Telegram's updates in the words of channels."""

from datetime import UTC
from hashlib import sha256

from telegram import (
    Bot,
    CallbackQuery,
    Message,
    MessageEntity,
    MessageOriginChannel,
    MessageOriginChat,
    MessageOriginHiddenUser,
    MessageOriginUser,
    Update,
    User,
)
from telegram.constants import ChatType

from contracts.language import Language, language_of
from contracts.messages import Chat, Sender
from gateway.channel import FileTooLarge, Incoming, PageRefused, Pressed, RemoteFile
from gateway.commands import URGENT, parse
from gateway.telegram.calling import calling

NAME = "telegram"


def read(update: Update, bot: Bot) -> Incoming | Pressed | None:
    """None for what nobody said to us, such as somebody joining a group."""
    if update.callback_query is not None:
        return _pressed(update.callback_query)
    message = update.message or update.edited_message
    if message is None or message.from_user is None or message.from_user.is_bot:
        return None
    files = _files(message, bot)
    text = message.text or message.caption or ""
    if not text and not files and message.effective_attachment is None:
        return None
    edited = update.edited_message is not None
    return Incoming(
        channel=NAME,
        chat=_chat(message.chat.id, message.chat.type),
        sender=_sender(message.from_user),
        message_id=str(message.message_id),
        text=text,
        at=message.date.astimezone(UTC),
        files=files,
        forwarded_from=_origin(message),
        edited=_version(message, text) if edited else None,
        reply_to=str(message.reply_to_message.message_id) if message.reply_to_message else None,
        mentions=_mentions(message),
        addressed=_addressed(message, bot),
        thread_id=str(message.message_thread_id) if message.is_topic_message else None,
        language=_language(text, message.from_user),
    )


def lane(update: Update) -> str:
    """Updates of one chat keep their order; buttons and urgent commands do not wait behind messages."""
    chat = update.effective_chat
    message = update.message
    command = parse(message.text or "") if message is not None else None
    if update.callback_query is not None or (command is not None and command.name in URGENT):
        return f"urgent:{update.update_id}"
    return str(chat.id) if chat is not None else "nowhere"


def _pressed(query: CallbackQuery) -> Pressed | None:
    if query.message is None or query.data is None:
        return None
    chat = query.message.chat
    return Pressed(
        channel=NAME,
        chat=_chat(chat.id, chat.type),
        sender=_sender(query.from_user),
        message_id=str(query.message.message_id),
        press_id=query.id,
        data=query.data,
        language=_language("", query.from_user),
    )


def _version(message: Message, text: str) -> str:
    """Two edits may share a second, so that the text counts too."""
    digest = sha256(text.encode("utf-8", "replace")).hexdigest()[:12]
    return f"{int((message.edit_date or message.date).timestamp())}-{digest}"


def _chat(chat_id: int, kind: str) -> Chat:
    if kind == ChatType.PRIVATE:
        return Chat(type="dm", id=str(chat_id))
    return Chat(type="channel" if kind == ChatType.CHANNEL else "group", id=str(chat_id))


def _sender(user: User) -> Sender:
    return Sender(id=str(user.id), name=user.full_name)


def _language(text: str, user: User) -> Language:
    if any(character.isalpha() for character in text) and not text.startswith("/"):
        return language_of(text)
    return "zh" if (user.language_code or "").startswith("zh") or language_of(text) == "zh" else "en"


def _origin(message: Message) -> str | None:
    match message.forward_origin:
        case None:
            return None
        case MessageOriginUser(sender_user=user):
            return user.full_name
        case MessageOriginHiddenUser(sender_user_name=name):
            return name
        case MessageOriginChat(sender_chat=chat) | MessageOriginChannel(chat=chat):
            return chat.effective_name or str(chat.id)
        case _:
            return "?"


def _mentions(message: Message) -> tuple[str, ...]:
    found = message.parse_entities([MessageEntity.MENTION]) or message.parse_caption_entities([MessageEntity.MENTION])
    return tuple(found.values())


def _addressed(message: Message, bot: Bot) -> bool:
    """In a group only what names the bot, answers it, or is a command without another bot's name."""
    if message.chat.type == ChatType.PRIVATE:
        return True
    mine = f"@{bot.username}".lower()
    text = message.text or message.caption or ""
    if text.startswith("/"):
        _, at, name = text.split(maxsplit=1)[0].partition("@")
        return not at or f"@{name}".lower() == mine
    replied = message.reply_to_message
    answers_us = replied is not None and replied.from_user is not None and replied.from_user.id == bot.id
    return answers_us or mine in (mention.lower() for mention in _mentions(message))


def _files(message: Message, bot: Bot) -> tuple[RemoteFile, ...]:
    if message.photo:
        largest = message.photo[-1]
        return (_file(bot, largest.file_id, "photo.jpg", "image/jpeg", "image", largest.file_size),)
    if message.voice:
        voice = message.voice
        return (_file(bot, voice.file_id, "voice.ogg", voice.mime_type or "audio/ogg", "voice", voice.file_size),)
    other = message.document or message.audio or message.video
    if other is not None:
        kind = other.mime_type or "application/octet-stream"
        return (_file(bot, other.file_id, other.file_name or "", kind, "file", other.file_size),)
    short = message.video_note or message.sticker
    if short is not None:
        video = message.video_note is not None
        name, kind = ("video.mp4", "video/mp4") if video else ("sticker.webp", "image/webp")
        return (_file(bot, short.file_id, name, kind, "file" if video else "image", short.file_size),)
    return ()


def _file(bot: Bot, file_id: str, name: str, media_type: str, kind: str, size: int | None) -> RemoteFile:
    async def fetch() -> bytes:
        try:
            async with calling():
                file = await bot.get_file(file_id)
                return bytes(await file.download_as_bytearray(read_timeout=60))
        except PageRefused as refused:
            raise FileTooLarge(str(refused)) from None

    return RemoteFile(
        name, media_type, "image" if kind == "image" else "voice" if kind == "voice" else "file", size, fetch
    )
