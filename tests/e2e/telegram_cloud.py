"""The Bot API stand-in as a process of its own, and the people who write to the bot there."""

import json
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tests.e2e.stack import PATIENCE_SECONDS, ROOT, Found, eventually
from tests.telegram_server.state import TOKEN

Message = dict[str, Any]


class TelegramCloud:
    """Acts through the server's control address."""

    def __init__(self, url: str) -> None:
        self.url = url

    @property
    def settings(self) -> dict[str, str]:
        """With these an installation takes it for Telegram."""
        return {
            "ASOS_TELEGRAM_TOKEN": TOKEN,
            "ASOS_TELEGRAM_BASE_URL": f"{self.url}/bot",
            "ASOS_TELEGRAM_BASE_FILE_URL": f"{self.url}/file/bot",
        }

    def say(self, chat_id: int, text: str, **extra: Any) -> dict[str, Any]:
        """Gives the update, which `again` can deliver once more."""
        update: dict[str, Any] = self._control("say", {"chat_id": chat_id, "text": text, **extra})
        return update

    def press(self, message: Message, label: str) -> None:
        where = {"chat_id": message["chat"]["id"], "message_id": message["message_id"]}
        self._control("press", {**where, "label": label})

    def again(self, update: dict[str, Any]) -> None:
        self._control("again", update)

    def fault(self, method: str, kind: str, *, times: int = 1, contains: str = "") -> None:
        self._control("fault", {"method": method, "kind": kind, "times": times, "contains": contains})

    def calls(self, method: str = "") -> list[dict[str, Any]]:
        """What the bot has called, oldest first."""
        made: list[dict[str, Any]] = self._control("calls")
        return [call for call in made if method.lower() in ("", call["method"].lower())]

    def from_bot(self, chat_id: int) -> list[Message]:
        """The bot's messages in a chat, oldest first, as they now stand."""
        said: list[Message] = self._control("messages")
        return [message for message in said if message["chat"]["id"] == chat_id and message["from"]["is_bot"]]

    def file(self, file_id: str) -> bytes:
        with urllib.request.urlopen(f"{self.url}/file/bot{TOKEN}/{file_id}", timeout=10) as answer:  # noqa: S310  # our own loopback server
            content: bytes = answer.read()
            return content

    def _control(self, action: str, body: dict[str, Any] | None = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}/control/{action}", data)  # noqa: S310  # our own loopback server
        with urllib.request.urlopen(request, timeout=10) as answer:  # noqa: S310  # the same server
            return json.loads(answer.read())


class Talk:
    """What one test says in a chat, and what the bot says since then."""

    def __init__(self, cloud: TelegramCloud, chat_id: int) -> None:
        self.cloud = cloud
        self.chat_id = chat_id
        self._before = {message["message_id"] for message in cloud.from_bot(chat_id)}

    def say(self, text: str) -> dict[str, Any]:
        return self.cloud.say(self.chat_id, text)

    def heard(self) -> list[Message]:
        said = self.cloud.from_bot(self.chat_id)
        return [message for message in said if message["message_id"] not in self._before]

    def texts(self) -> list[str]:
        return [message.get("text", "") for message in self.heard()]

    def saying(self, words: str, *, final: bool = False) -> list[Message]:
        """Messages with these words in them; a final one has no buttons any more."""
        return [
            message
            for message in self.heard()
            if words in message.get("text", "") and not (final and "reply_markup" in message)
        ]

    def until(self, look: Callable[[], Found | None], seconds: float = PATIENCE_SECONDS) -> Found:
        try:
            return eventually(look, seconds)
        except AssertionError as nothing:
            raise AssertionError(f"{nothing}; the bot has said {self.texts()}") from None

    def hears(self, words: str, *, final: bool = False) -> Message:
        """The first message of the bot with these words."""
        return self.until(lambda: next(iter(self.saying(words, final=final)), None))


@contextmanager
def telegram_cloud() -> Iterator[TelegramCloud]:
    command = [sys.executable, "-m", "tests.telegram_server"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield TelegramCloud(process.stdout.readline().strip())
        finally:
            process.terminate()
