"""The Bot API methods, each with the refusals that the documentation promises."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

from tests.telegram_server import html
from tests.telegram_server.fields import Fields, Upload
from tests.telegram_server.refusal import Refusal
from tests.telegram_server.state import MAX_DOWNLOAD_BYTES, State, bot_user, chat_of, now

MAX_TEXT = 4_096
MAX_CAPTION = 1_024
MAX_CALLBACK_BYTES = 64
MAX_UPLOAD_BYTES = 50 * 1024 * 1024
MAX_PHOTO_BYTES = 10 * 1024 * 1024

Method = Callable[[State, Fields], Awaitable[Any]]


async def get_me(_state: State, _fields: Fields) -> dict[str, Any]:
    extra = {"can_join_groups": True, "can_read_all_group_messages": False, "supports_inline_queries": False}
    return bot_user() | extra


async def get_updates(state: State, fields: Fields) -> list[dict[str, Any]]:
    if state.webhook_url:
        raise Refusal(409, "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook first")
    offset = fields.number("offset")
    state.updates[:] = [update for update in state.updates if update["update_id"] >= offset]
    state.poller += 1
    mine = state.poller
    await state.announce()
    deadline = asyncio.get_running_loop().time() + fields.number("timeout")
    while not state.updates:
        remaining = deadline - asyncio.get_running_loop().time()
        if remaining <= 0:
            return []
        try:
            async with asyncio.timeout(remaining), state.changed:
                await state.changed.wait()
        except TimeoutError:
            return []
        if state.poller != mine:
            raise Refusal(
                409,
                "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running",
            )
    return state.updates[: fields.number("limit", 100)]


async def set_webhook(state: State, fields: Fields) -> bool:
    state.webhook_url = fields.text("url")
    state.webhook_secret = fields.text("secret_token")
    return True


async def delete_webhook(state: State, _fields: Fields) -> bool:
    state.webhook_url = ""
    return True


async def get_webhook_info(state: State, _fields: Fields) -> dict[str, Any]:
    return {
        "url": state.webhook_url,
        "has_custom_certificate": False,
        "pending_update_count": len(state.updates),
    }


async def set_my_commands(state: State, fields: Fields) -> bool:
    commands: list[dict[str, str]] = fields.nested("commands") or []
    for command in commands:
        if not 1 <= len(command["command"]) <= 32 or not 1 <= len(command["description"]) <= 256:
            raise Refusal(400, "Bad Request: BOT_COMMAND_INVALID")
    state.commands[fields.text("language_code")] = commands
    return True


async def get_my_commands(state: State, fields: Fields) -> list[dict[str, str]]:
    return state.commands.get(fields.text("language_code"), [])


async def send_message(state: State, fields: Fields) -> dict[str, Any]:
    chat_id = _open_chat(state, fields)
    text, entities = _formatted(fields, "text", MAX_TEXT)
    return await _post(state, chat_id, fields, {"text": text, "entities": entities})


async def edit_message_text(state: State, fields: Fields) -> dict[str, Any]:
    message = _editable(state, fields)
    if "text" not in message:
        raise Refusal(400, "Bad Request: there is no text in the message to edit")
    text, entities = _formatted(fields, "text", MAX_TEXT)
    return await _change(state, message, fields, {"text": text, "entities": entities})


async def edit_message_reply_markup(state: State, fields: Fields) -> dict[str, Any]:
    return await _change(state, _editable(state, fields), fields, {})


async def send_photo(state: State, fields: Fields) -> dict[str, Any]:
    chat_id = _open_chat(state, fields)
    caption, entities = _caption(fields.text("caption"), fields.text("parse_mode"))
    body = _photo(state, _uploaded(fields, fields.text("photo") or "photo"))
    return await _post(state, chat_id, fields, body | {"caption": caption, "caption_entities": entities})


async def send_document(state: State, fields: Fields) -> dict[str, Any]:
    chat_id = _open_chat(state, fields)
    caption, entities = _caption(fields.text("caption"), fields.text("parse_mode"))
    body = _document(state, _uploaded(fields, fields.text("document") or "document"))
    return await _post(state, chat_id, fields, body | {"caption": caption, "caption_entities": entities})


async def edit_message_media(state: State, fields: Fields) -> dict[str, Any]:
    message = _editable(state, fields)
    media = fields.nested("media")
    caption, entities = _caption(media.get("caption", ""), media.get("parse_mode", ""))
    upload = _uploaded(fields, media["media"])
    body = _photo(state, upload) if media["type"] == "photo" else _document(state, upload)
    for old in ("text", "entities", "photo", "document"):
        message.pop(old, None)
    return await _change(state, message, fields, body | {"caption": caption, "caption_entities": entities})


async def delete_message(state: State, fields: Fields) -> bool:
    key = (fields.number("chat_id"), fields.number("message_id"))
    if state.messages.pop(key, None) is None:
        raise Refusal(400, "Bad Request: message to delete not found")
    await state.announce()
    return True


async def answer_callback_query(state: State, fields: Fields) -> bool:
    if len(fields.text("text")) > 200:
        raise Refusal(400, "Bad Request: MESSAGE_TOO_LONG")
    state.answers[fields.text("callback_query_id")] = fields.text("text")
    await state.announce()
    return True


async def send_chat_action(state: State, fields: Fields) -> bool:
    _open_chat(state, fields)
    return True


async def get_file(state: State, fields: Fields) -> dict[str, Any]:
    file_id = fields.text("file_id")
    if file_id not in state.files:
        raise Refusal(400, "Bad Request: invalid file_id")
    size = state.file_sizes[file_id]
    if size > MAX_DOWNLOAD_BYTES:
        raise Refusal(400, "Bad Request: file is too big")
    return {"file_id": file_id, "file_unique_id": file_id, "file_size": size, "file_path": f"documents/{file_id}"}


METHODS: dict[str, Method] = {
    "getme": get_me,
    "getupdates": get_updates,
    "setwebhook": set_webhook,
    "deletewebhook": delete_webhook,
    "getwebhookinfo": get_webhook_info,
    "setmycommands": set_my_commands,
    "getmycommands": get_my_commands,
    "sendmessage": send_message,
    "editmessagetext": edit_message_text,
    "editmessagereplymarkup": edit_message_reply_markup,
    "sendphoto": send_photo,
    "senddocument": send_document,
    "editmessagemedia": edit_message_media,
    "deletemessage": delete_message,
    "answercallbackquery": answer_callback_query,
    "sendchataction": send_chat_action,
    "getfile": get_file,
}


def _open_chat(state: State, fields: Fields) -> int:
    raw = fields.text("chat_id")
    if not raw.lstrip("-").isdigit():
        raise Refusal(400, "Bad Request: chat not found")
    chat_id = int(raw)
    if chat_id in state.blocked:
        raise Refusal(403, "Forbidden: bot was blocked by the user")
    if not any(known == chat_id for known, _ in state.messages):
        raise Refusal(400, "Bad Request: chat not found")
    return chat_id


def _formatted(fields: Fields, name: str, limit: int) -> tuple[str, list[dict[str, Any]]]:
    raw = fields.text(name)
    text, entities = html.parse(raw) if fields.text("parse_mode") == "HTML" else (raw, fields.nested("entities") or [])
    if not text.strip():
        raise Refusal(400, "Bad Request: message text is empty")
    if html.utf16(text) > limit:
        raise Refusal(400, "Bad Request: message is too long")
    return text, entities


def _caption(raw: str, parse_mode: str) -> tuple[str, list[dict[str, Any]]]:
    text, entities = html.parse(raw) if parse_mode == "HTML" else (raw, [])
    if html.utf16(text) > MAX_CAPTION:
        raise Refusal(400, "Bad Request: message caption is too long")
    return text, entities


def _keyboard(fields: Fields) -> Any:
    markup = fields.nested("reply_markup")
    for row in (markup or {}).get("inline_keyboard", []):
        for button in row:
            if not 1 <= len(button.get("callback_data", "").encode()) <= MAX_CALLBACK_BYTES:
                raise Refusal(400, "Bad Request: BUTTON_DATA_INVALID")
            if not button["text"]:
                raise Refusal(400, "Bad Request: inline keyboard button text is empty")
    return markup


async def _post(state: State, chat_id: int, fields: Fields, body: dict[str, Any]) -> dict[str, Any]:
    markup = _keyboard(fields)
    reply = fields.nested("reply_parameters")
    replied = state.messages.get((chat_id, reply["message_id"])) if reply else None
    if reply and replied is None and not reply.get("allow_sending_without_reply"):
        raise Refusal(400, "Bad Request: message to be replied not found")
    message = {
        "message_id": state.new_message_id(),
        "date": now(),
        "chat": chat_of(chat_id),
        "from": bot_user(),
        "preview": not (fields.nested("link_preview_options") or {}).get("is_disabled", False),
        **body,
    }
    if markup:
        message["reply_markup"] = markup
    if replied is not None:
        message["reply_to_message"] = {k: replied[k] for k in ("message_id", "date", "chat")}
    state.messages[chat_id, message["message_id"]] = message
    await state.announce()
    return message


def _editable(state: State, fields: Fields) -> dict[str, Any]:
    chat_id = _open_chat(state, fields)
    message = state.messages.get((chat_id, fields.number("message_id")))
    if message is None or message["from"]["id"] != bot_user()["id"]:
        raise Refusal(400, "Bad Request: message to edit not found")
    return message


async def _change(state: State, message: dict[str, Any], fields: Fields, body: dict[str, Any]) -> dict[str, Any]:
    markup = _keyboard(fields)
    same = all(message.get(key) == value for key, value in body.items())
    if same and message.get("reply_markup") == markup:
        raise Refusal(
            400,
            "Bad Request: message is not modified: specified new message content and reply markup are exactly the same "
            "as a current content and reply markup of the message",
        )
    message.update(body)
    message["edit_date"] = now()
    message.pop("reply_markup", None)
    if markup:
        message["reply_markup"] = markup
    await state.announce()
    return message


def _uploaded(fields: Fields, reference: str) -> Upload:
    upload = fields.upload(reference)
    if upload is None:
        raise Refusal(400, "Bad Request: wrong file identifier/HTTP URL specified")
    if len(upload.content) > MAX_UPLOAD_BYTES:
        raise Refusal(413, "Request Entity Too Large")
    if not upload.content:
        raise Refusal(400, "Bad Request: file must be non-empty")
    return upload


def _photo(state: State, upload: Upload) -> dict[str, Any]:
    known = upload.content.startswith((b"\x89PNG", b"\xff\xd8"))
    if not known or len(upload.content) > MAX_PHOTO_BYTES:
        raise Refusal(400, "Bad Request: IMAGE_PROCESS_FAILED")
    file_id = state.keep_file(upload.content)
    size = {"file_id": file_id, "file_unique_id": file_id, "width": 90, "height": 90, "file_size": len(upload.content)}
    return {"photo": [size]}


def _document(state: State, upload: Upload) -> dict[str, Any]:
    file_id = state.keep_file(upload.content)
    document = {"file_id": file_id, "file_unique_id": file_id, "file_name": upload.name, "mime_type": upload.media_type}
    return {"document": document | {"file_size": len(upload.content)}}


def answer(result: Any) -> bytes:
    """The envelope of a success."""
    return json.dumps({"ok": True, "result": result}).encode()
