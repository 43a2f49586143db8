"""The gateway as a process of its own, killed at the worst moments: one final message, one task."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from temporalio.testing import WorkflowEnvironment

from gateway.pairing import Pairing, Person
from gateway.store import Store
from runtime.keys import Keyring
from runtime.paths import DataPaths
from runtime.plugin import agent_os_plugin
from tests.gateway.engine import script, workers
from tests.gateway.made import CHAT, known_chat
from tests.ports import free_port
from tests.server import temporal_server
from tests.telegram_server.server import TelegramServer
from tests.telegram_server.state import TOKEN
from tests.workflows.stage import Script

REPOSITORY = Path(__file__).parents[2]


@dataclass
class House:
    server: TelegramServer
    script: Script
    environment: WorkflowEnvironment
    folder: Path
    port: int

    @asynccontextmanager
    async def process(self) -> AsyncIterator[asyncio.subprocess.Process]:
        """A gateway process that is certainly gone after the block."""
        variables = {
            "ASOS_DATA_DIR": str(self.folder),
            "ASOS_TEMPORAL_ADDRESS": self.environment.client.service_client.config.target_host,
            "ASOS_TELEGRAM_TOKEN": TOKEN,
            "ASOS_TELEGRAM_BASE_URL": self.server.base_url,
            "ASOS_TELEGRAM_BASE_FILE_URL": self.server.base_file_url,
            "ASOS_GATEWAY_PORT": str(self.port),
            "ASOS_METRICS_PORT": str(free_port(neighbours=1)),
            "PATH": os.environ["PATH"],
        }
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "workers.gateway", cwd=REPOSITORY, env=variables, stderr=asyncio.subprocess.PIPE
        )
        try:
            yield process
        finally:
            if process.returncode is None:
                process.kill()
            await process.communicate()

    def texts(self) -> list[str]:
        return [str(message.get("text", "")) for message in self.server.from_bot(CHAT)]


@pytest.fixture
async def house(server: TelegramServer, tmp_path: Path) -> AsyncIterator[House]:
    known_chat(server)
    paths = DataPaths(tmp_path)
    paths.prepare()
    store = Store(paths.gateway_database)
    await Pairing(store).add(Person("telegram", str(CHAT), "Ann", "owner"))
    store.close()
    acting = script()
    plugin = agent_os_plugin(Keyring.load(tmp_path))
    async with temporal_server(plugins=[plugin]) as environment, workers(environment.client, acting):
        yield House(server, acting, environment, tmp_path, free_port())


@pytest.mark.parametrize("method", ["sendMessage", "editMessageText"])
async def test_killed_between_the_act_and_its_record_it_still_says_the_answer_once(house: House, method: str) -> None:
    part = "you said" if method == "editMessageText" else ""
    house.server.fail(method, "hang", contains=part)
    async with house.process() as process:
        await house.server.say(CHAT, "echo hello")
        await house.server.until(lambda: [c for c in house.server.calls(method) if part in str(c.values)], 30)
        process.send_signal(signal.SIGKILL)
        await process.wait()

    async with house.process():
        await house.server.until(lambda: "you said: hello" in house.texts(), 60)
        await asyncio.sleep(1.5)

    assert house.texts().count("you said: hello") == 1
    assert [text for text in house.texts() if text not in ("you said: hello", "⏳ …")] == []
    assert len(house.script.plans) == 1


async def test_killed_before_the_acknowledgement_it_starts_no_second_task(house: House) -> None:
    async with house.process() as process:
        update = await house.server.say(CHAT, "echo once")
        await house.server.until(lambda: house.script.plans, 30)
        process.send_signal(signal.SIGKILL)
        await process.wait()
    if update not in house.server.state.updates:
        await house.server.again(update)

    async with house.process():
        await house.server.until(lambda: not house.server.state.updates, 30)
        await house.server.until(lambda: "you said: once" in house.texts(), 60)

    assert len(house.script.plans) == 1
    assert house.texts().count("you said: once") == 1


async def test_asked_to_stop_it_ends_in_order_and_leaves_no_secret_in_its_log(house: House) -> None:
    async with house.process() as process:
        await house.server.say(CHAT, "echo bye")
        await house.server.until(lambda: "you said: bye" in house.texts(), 30)
        async with httpx.AsyncClient() as http:
            assert (await http.get(f"http://127.0.0.1:{house.port}/health")).status_code == 200

        process.terminate()
        async with asyncio.timeout(15):
            _, errors = await process.communicate()

    assert process.returncode == 0, errors.decode()
    assert house.server.state.updates == []
    logs = b"".join(path.read_bytes() for path in (house.folder / "logs").iterdir())
    assert logs
    assert TOKEN.encode() not in logs + errors
