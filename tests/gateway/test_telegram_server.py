"""The stand-in for the Bot API is as strict as its documentation, seen through the real client."""

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import httpx
import pytest
from telegram import Bot, InlineKeyboardButton, InlineKeyboardMarkup
from telegram.error import BadRequest, Conflict, Forbidden, InvalidToken, NetworkError, TelegramError
from telegram.request import HTTPXRequest

from contracts.task import Limits
from gateway.obeying import Obeying
from gateway.outbox import Outbox
from gateway.pairing import Pairing, Person
from gateway.reception import Reception
from gateway.requests import Requests
from gateway.speaking import Speaker
from gateway.store import Store
from tests.gateway.fake_desk import FakeDesk
from tests.gateway.made import CHAT, MemoryBlobs, bot, deciding, fast_pace, known_chat, standing_desk
from tests.telegram_server.server import TelegramServer
from tests.telegram_server.state import TOKEN


@pytest.fixture
async def client(server: TelegramServer) -> AsyncIterator[Bot]:
    known_chat(server)
    requests = (HTTPXRequest(read_timeout=2), HTTPXRequest(read_timeout=2))
    yield Bot(TOKEN, server.base_url, server.base_file_url, request=requests[0], get_updates_request=requests[1])
    for request in requests:
        await request.shutdown()


def keyboard(data: str) -> InlineKeyboardMarkup:
    return InlineKeyboardMarkup([[InlineKeyboardButton("x", callback_data=data)]])


REFUSALS: dict[str, tuple[Callable[[Bot], Awaitable[object]], type[TelegramError], str]] = {
    "4097 units": (lambda b: b.send_message(CHAT, "😀" * 2_049), BadRequest, "too long"),
    "blank": (lambda b: b.send_message(CHAT, " \n"), BadRequest, "text is empty"),
    "65 bytes": (lambda b: b.send_message(CHAT, "x", reply_markup=keyboard("é" * 33)), BadRequest, "DATA_INVALID"),
    "open tag": (lambda b: b.send_message(CHAT, "<b>x", parse_mode="HTML"), BadRequest, "can't find end tag"),
    "strange tag": (lambda b: b.send_message(CHAT, "a <x> b", parse_mode="HTML"), BadRequest, "unsupported start tag"),
    "crossed tags": (lambda b: b.send_message(CHAT, "<b><i>x</b></i>", parse_mode="HTML"), BadRequest, "unmatched"),
    "unknown chat": (lambda b: b.send_message(999, "x"), BadRequest, "chat not found"),
    "unknown message": (lambda b: b.edit_message_text("x", CHAT, 5), BadRequest, "not found"),
    "no photo": (lambda b: b.send_photo(CHAT, b"text"), BadRequest, "image_process_failed"),
    "unknown file": (lambda b: b.get_file("nope"), BadRequest, "file_id"),
}


@pytest.mark.parametrize("case", REFUSALS)
async def test_it_refuses_what_the_bot_api_refuses(client: Bot, case: str) -> None:
    act, kind, words = REFUSALS[case]

    with pytest.raises(kind) as raised:
        await act(client)

    assert words.lower() in str(raised.value).lower()


async def test_an_edit_that_changes_nothing_is_refused(client: Bot) -> None:
    message = await client.send_message(CHAT, "<b>x</b>", parse_mode="HTML")

    with pytest.raises(BadRequest, match="not modified"):
        await client.edit_message_text("<b>x</b>", CHAT, message.message_id, parse_mode="HTML")


async def test_a_blocked_bot_and_a_wrong_token_are_told_apart(client: Bot, server: TelegramServer) -> None:
    server.state.blocked.add(CHAT)
    with pytest.raises(Forbidden):
        await client.send_message(CHAT, "x")

    request = HTTPXRequest()
    with pytest.raises(InvalidToken):
        await Bot("1:no", server.base_url, request=request).get_me()
    await request.shutdown()


async def test_updates_come_again_until_they_are_acknowledged(client: Bot, server: TelegramServer) -> None:
    await server.say(CHAT, "one")
    first = await client.get_updates(timeout=0)
    second = await client.get_updates(timeout=0)

    third = await client.get_updates(offset=first[0].update_id + 1, timeout=0)

    assert [len(first), len(second), len(third)] == [1, 1, 0]


async def test_the_older_of_two_pollers_is_ended(client: Bot, server: TelegramServer) -> None:
    first = asyncio.create_task(client.get_updates(timeout=5))
    await server.until(lambda: server.calls("getUpdates"))
    second = asyncio.create_task(client.get_updates(timeout=1))

    with pytest.raises(Conflict, match="terminated by other getUpdates"):
        await first

    assert list(await second) == []


@pytest.mark.parametrize("kind", ["drop", "reset", "hang", "500"])
async def test_faults_happen_when_they_are_planned(client: Bot, server: TelegramServer, kind: str) -> None:
    server.fail("sendMessage", kind)  # type: ignore[arg-type]  # from a table

    with pytest.raises(NetworkError):
        await client.send_message(CHAT, "x", read_timeout=0.5)

    assert len(server.from_bot(CHAT)) == (1 if kind in ("drop", "hang") else 0)
    await client.send_message(CHAT, "y")


async def test_as_a_process_of_its_own_it_is_led_over_http() -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "tests.telegram_server", "--port", "0"),
        cwd=Path(__file__).parents[2],
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        assert process.stdout is not None
        url = (await process.stdout.readline()).decode().strip()
        async with httpx.AsyncClient(base_url=url) as http:
            await http.post("/control/say", json={"chat_id": CHAT, "text": "hi"})
            await http.post("/control/fault", json={"method": "getMe", "kind": "500"})
            assert (await http.get(f"/bot{TOKEN}/getMe")).status_code == 500
            updates = (await http.get(f"/bot{TOKEN}/getUpdates")).json()["result"]
            messages = (await http.get("/control/messages")).json()
            calls = (await http.get("/control/calls")).json()
    finally:
        process.kill()
        await process.communicate()

    assert [update["message"]["text"] for update in updates] == ["hi"] == [message["text"] for message in messages]
    assert [call["method"] for call in calls] == ["getMe", "getUpdates"]


async def test_by_webhook_an_update_is_taken_once_and_only_when_it_is_safe(
    server: TelegramServer, store: Store, tmp_path: Path
) -> None:
    known_chat(server)
    telegram = bot(server, webhook_url="https://bot.example.org")
    desk, outbox, requests, pairing = FakeDesk(), Outbox(store), Requests(store), Pairing(store)
    await pairing.add(Person("telegram", str(CHAT), "Ann", "owner"))
    speakers = {"telegram": Speaker(telegram, outbox, fast_pace())}
    decides = deciding(desk, tmp_path)
    obeying = Obeying(desk, outbox, requests, lambda _: None, decides, standing_desk(tmp_path))
    telegram.start(Reception(desk, speakers, pairing, outbox, requests, MemoryBlobs(), obeying, Limits(), decides))
    await server.until(lambda: server.state.webhook_url)

    update = await server.say(CHAT, "hooked")
    await asyncio.gather(*(telegram.take(update) for _ in range(3)))
    await telegram.take(update)
    with pytest.raises(ValueError, match="not an update"):
        await telegram.take({"nonsense": 1})
    await telegram.stop()
    await telegram.close()

    assert server.state.webhook_url == f"https://bot.example.org/telegram/{telegram.webhook_secret}"
    assert server.state.webhook_secret == telegram.webhook_secret
    assert [each.message.content.text for each in desk.submitted] == ["hooked"]
    assert server.calls("getUpdates") == []
