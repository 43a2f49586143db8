"""A person, the strict server, the whole gateway, and the real engine: from the message to the answer."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from temporalio.client import Client

from contracts.kill import FreeRunning
from contracts.task import Limits
from gateway.channels.telegram import Telegram
from gateway.gateway import Gateway, Places
from gateway.pairing import Person
from runtime.codec import EncryptionCodec
from runtime.keys import Keyring
from runtime.paths import DataPaths
from runtime.second_factor import SecondFactor
from tests.gateway.engine import script, workers
from tests.gateway.made import CHAT, MemoryBlobs, bot, fast_pace, kills_in, known_chat
from tests.ports import free_port
from tests.server import temporal_server
from tests.telegram_server.server import TelegramServer
from tests.workflows.stage import Script


@dataclass
class House:
    server: TelegramServer
    script: Script
    gateway: Gateway

    def texts(self, chat_id: int = CHAT) -> list[str]:
        return [str(message.get("text", "")) for message in self.server.from_bot(chat_id)]

    async def message_is(self, text: str, seconds: float = 20) -> None:
        await self.server.until(lambda: text in self.texts(), seconds)

    async def message_with(self, part: str, seconds: float = 20) -> dict[str, Any]:
        found: dict[str, Any] = await self.server.until(
            lambda: next((m for m in self.server.from_bot(CHAT) if part in m.get("text", "")), None), seconds
        )
        return found


def gateway(client: Client, telegram: Telegram | None, folder: Path, port: int = 0) -> Gateway:
    async def connect() -> Client:
        return client

    keyring = Keyring.load(folder)
    return Gateway(
        connect=connect,
        places=Places(folder / "gateway.db", folder / "pairing-code", folder / "owner-token", folder / "standing.db"),
        blobs=MemoryBlobs(),
        codec=EncryptionCodec(keyring),
        sealer=keyring,
        confirm=SecondFactor(DataPaths(folder), keyring).confirm,
        telegram=telegram,
        webhook_url="",
        sentence_for=lambda _: None,
        limits=Limits(),
        port=port,
        kills=kills_in(folder),
        brake=FreeRunning(),
        ui_origins=("http://127.0.0.1:8233",),
        pace=fast_pace(),
    )


@contextlib.asynccontextmanager
async def running(made: Gateway) -> AsyncIterator[None]:
    stop = asyncio.Event()
    work = asyncio.create_task(made.run(stop))
    try:
        yield
    finally:
        stop.set()
        await work


@pytest.fixture
async def house(server: TelegramServer, tmp_path: Path) -> AsyncIterator[House]:
    known_chat(server)
    acting = script()
    async with temporal_server() as environment, workers(environment.client, acting):
        made = gateway(environment.client, bot(server), tmp_path)
        await made.pairing.add(Person("telegram", str(CHAT), "Ann", "owner"))
        async with running(made):
            yield House(server, acting, made)


async def test_a_message_becomes_a_task_and_its_message_becomes_the_answer(house: House) -> None:
    await house.server.say(CHAT, "run make")

    await house.message_is("done")

    assert house.texts() == ["done"]
    assert len(house.script.runs) == 1


async def test_the_same_update_five_times_is_one_task(house: House) -> None:
    update = await house.server.say(CHAT, "echo hello")
    for number in range(1, 5):
        await house.server.again(update | {"update_id": update["update_id"] + number})

    await house.message_with("you said: hello")
    await house.server.until(lambda: not house.server.state.updates)

    assert house.texts() == ["you said: hello"]
    assert len(house.script.plans) == 1


@pytest.mark.parametrize("answer", ["button", "text"])
async def test_an_approval_is_given_by_button_and_by_text(house: House, answer: str) -> None:
    await house.server.say(CHAT, "risky rm -rf build")
    card = await house.message_with("May I do this?")
    assert "data_deletion (build)" in card["text"]

    if answer == "button":
        await house.server.press(card, "Approve")
    else:
        short = card["text"].split("/approve ")[1].split()[0]
        await house.server.say(CHAT, f"/approve {short}")

    await house.message_is("done")
    assert len(house.script.runs) == 1


async def test_a_denied_call_is_not_run(house: House) -> None:
    await house.server.say(CHAT, "risky rm -rf build")

    await house.server.press(await house.message_with("May I do this?"), "Deny")

    await house.message_is("done")
    assert house.script.runs == []


async def test_a_question_is_answered_by_choice_or_by_writing(house: House) -> None:
    await house.server.say(CHAT, "ask which one?")
    card = await house.message_with("Write your answer")
    await house.server.press(card, "blue")
    await house.message_with("done: blue")

    await house.server.say(CHAT, "ask which next?")
    await house.message_with("Write your answer")
    await house.server.say(CHAT, "green please")

    await house.message_with("done: green please")


async def test_stop_ends_the_running_task(house: House) -> None:
    await house.server.say(CHAT, "ask which one?")
    await house.message_with("Write your answer")

    await house.server.say(CHAT, "/stop")

    await house.message_with("Stopping: ask which one?")
    await house.message_with("⏹ Stopped")


async def test_a_retried_task_answers_again_in_a_new_message(house: House) -> None:
    await house.server.say(CHAT, "run make")
    await house.message_is("done")

    await house.server.say(CHAT, "/retry 1")

    await house.message_with("Going on again from step 1")
    await house.server.until(lambda: house.texts().count("done") == 2)
    assert len(house.script.runs) == 2


async def test_no_internal_trace_reaches_the_chat(house: House) -> None:
    def explode(_: object) -> Any:
        raise RuntimeError("SECRET internal detail")

    house.script.tool = explode
    await house.server.say(CHAT, "/stop NOPE NOPE")
    await house.server.say(CHAT, "/retry ZZZZ 9")
    await house.server.say(CHAT, "/approve zzz")

    await house.server.until(lambda: len(house.texts()) >= 3)

    assert not any("Error" in text or "Traceback" in text or "SECRET" in text for text in house.texts())


async def test_the_first_contact_is_paired_by_the_code_that_the_file_shows(
    server: TelegramServer, tmp_path: Path
) -> None:
    async with temporal_server() as environment, running(gateway(environment.client, bot(server), tmp_path)):
        note = tmp_path / "pairing-code"
        await server.until(note.exists)
        assert note.stat().st_mode & 0o077 == 0

        await server.say(5, f"/start {note.read_text().strip()}")

        await server.until(lambda: any("Welcome" in m["text"] for m in server.from_bot(5)))
        await server.until(lambda: not note.exists())


async def test_messages_that_come_before_temporal_answers_are_handled_once_it_does(
    server: TelegramServer, tmp_path: Path
) -> None:
    known_chat(server)
    acting = script()
    ready = asyncio.Event()
    async with temporal_server() as environment, workers(environment.client, acting):
        made = gateway(environment.client, bot(server), tmp_path)

        async def late() -> Client:
            await ready.wait()
            return environment.client

        made._connect = late
        await made.pairing.add(Person("telegram", str(CHAT), "Ann", "owner"))
        async with running(made):
            await server.say(CHAT, "echo one")
            await server.until(lambda: any("does not answer" in m["text"] for m in server.from_bot(CHAT)))
            ready.set()

            await server.until(lambda: any(m["text"] == "you said: one" for m in server.from_bot(CHAT)))

    assert len(acting.plans) == 1


async def test_health_is_served_and_true(server: TelegramServer, tmp_path: Path) -> None:
    port = free_port()
    async with temporal_server() as environment:
        made = gateway(environment.client, bot(server), tmp_path, port)
        async with running(made), httpx.AsyncClient() as http:
            await server.until(lambda: made._telegram is not None and made._telegram.liveness.connected)

            response = await http.get(f"http://127.0.0.1:{port}/health")

            assert response.status_code == 200
            detail = response.json()["detail"]
            assert detail["temporal"] is True
            assert detail["channels"]["telegram"]["connected"] is True
