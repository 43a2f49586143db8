"""The people on the other side: they write, send files, press buttons and block the bot."""

from typing import Any

from tests.telegram_server.state import State, chat_of, now


class People:
    """What a test lets people do; every act becomes an update."""

    def __init__(self, state: State) -> None:
        self.state = state

    async def say(self, chat_id: int, text: str, *, user_id: int | None = None, **extra: Any) -> dict[str, Any]:
        """A text message; `extra` fields go into the message as they are."""
        return await self._message(chat_id, user_id, {"text": text, "entities": _commands(text)} | extra)

    async def send_document(
        self,
        chat_id: int,
        name: str,
        content: bytes,
        *,
        media_type: str = "text/plain",
        size: int | None = None,
        user_id: int | None = None,
        **extra: Any,
    ) -> dict[str, Any]:
        """A document; `size` announces another size than the content has."""
        file_id = self.state.keep_file(content, size)
        document = {"file_id": file_id, "file_unique_id": file_id, "file_name": name, "mime_type": media_type}
        document["file_size"] = self.state.file_sizes[file_id]  # type: ignore[assignment]  # mixed JSON values
        return await self._message(chat_id, user_id, {"document": document} | extra)

    async def send_photo(self, chat_id: int, content: bytes, **extra: Any) -> dict[str, Any]:
        file_id = self.state.keep_file(content)
        size = {"file_id": file_id, "file_unique_id": file_id, "width": 90, "height": 90, "file_size": len(content)}
        return await self._message(chat_id, None, {"photo": [size]} | extra)

    async def send_voice(self, chat_id: int, content: bytes) -> dict[str, Any]:
        file_id = self.state.keep_file(content)
        voice = {"file_id": file_id, "file_unique_id": file_id, "duration": 1, "file_size": len(content)}
        return await self._message(chat_id, None, {"voice": voice | {"mime_type": "audio/ogg"}})

    async def edit(self, message: dict[str, Any], text: str) -> dict[str, Any]:
        edited = message | {"text": text, "edit_date": now()}
        return await self.state.add_update("edited_message", edited)

    async def press(
        self, message: dict[str, Any], label: str, *, user_id: int | None = None, data: str | None = None
    ) -> str:
        """Presses the first button with `label` in its text, or sends forged `data`; gives the callback query's id."""
        query_id = f"query-{self.state.next_update_id + 1}"
        body = {
            "id": query_id,
            "from": _person(user_id or message["chat"]["id"]),
            "message": message,
            "chat_instance": "1",
            "data": data if data is not None else _button(message, label)["callback_data"],
        }
        await self.state.add_update("callback_query", body)
        return query_id

    async def again(self, update: dict[str, Any]) -> None:
        """The platform delivers the same update once more."""
        self.state.updates.append(update)
        await self.state.announce()

    def from_bot(self, chat_id: int | None = None) -> list[dict[str, Any]]:
        """What the bot has said, oldest first, as it now stands."""
        return [
            message
            for (chat, _), message in sorted(self.state.messages.items())
            if message["from"]["is_bot"] and chat_id in (None, chat)
        ]

    async def _message(self, chat_id: int, user_id: int | None, body: dict[str, Any]) -> dict[str, Any]:
        message = {
            "message_id": self.state.new_message_id(),
            "date": now(),
            "chat": chat_of(chat_id),
            "from": _person(user_id or chat_id),
            **body,
        }
        self.state.messages[chat_id, message["message_id"]] = message
        return await self.state.add_update("message", message)


def _person(user_id: int) -> dict[str, Any]:
    return {"id": user_id, "is_bot": False, "first_name": f"Person {user_id}"}


def _commands(text: str) -> list[dict[str, Any]]:
    if not text.startswith("/"):
        return []
    return [{"type": "bot_command", "offset": 0, "length": len(text.split(maxsplit=1)[0])}]


def _button(message: dict[str, Any], label: str) -> dict[str, Any]:
    rows = message.get("reply_markup", {}).get("inline_keyboard", [])
    found = [button for row in rows for button in row if label in button["text"]]
    if not found:
        raise AssertionError(f"no button {label!r} among {[b['text'] for row in rows for b in row]}")
    return dict(found[0])
