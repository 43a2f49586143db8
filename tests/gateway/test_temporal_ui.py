"""The real Temporal UI in a real browser: the owner reads clear text there, and nobody else does."""

import asyncio
import subprocess
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest
from playwright.async_api import Browser, BrowserContext, async_playwright, expect
from temporalio.client import Client, WorkflowExecutionStatus

from contracts.kill import FreeRunning
from contracts.queues import WORKFLOWS, task_workflow_id
from contracts.task import Limits
from contracts.texts import pages as texts
from gateway.gateway import Gateway, Places
from gateway.main import ui_origins
from gateway.owner import COOKIE, Owner
from runtime import addresses
from runtime.codec import EncryptionCodec
from runtime.keys import Keyring
from runtime.paths import DataPaths
from runtime.second_factor import SecondFactor
from runtime.settings import Settings
from runtime.stack.parts import stack_of
from runtime.temporal import connect
from tests.gateway.made import TASK, MemoryBlobs, kills_in
from tests.gateway.test_end_to_end import running
from tests.ports import free_port
from workflows.task import TaskWorkflow

SECRET = "the keeper's log of Cape Verity"
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
PATIENCE_MILLISECONDS = 60_000
WHAT_IS_DECODED_SHOWS_WITHIN_MILLISECONDS = 3_000


@dataclass
class House:
    settings: Settings
    owner: Owner
    browser: Browser
    client: Client

    @property
    def login(self) -> str:
        return f"{addresses.gateway(self.settings)}/login?ticket={self.owner.ticket(datetime.now(UTC))}"

    @property
    def task(self) -> str:
        return addresses.task(self.settings, TASK)

    async def person(self, *, logged_in: bool) -> BrowserContext:
        context = await self.browser.new_context(locale="en-US")
        context.set_default_timeout(PATIENCE_MILLISECONDS)
        if logged_in:
            await (await context.new_page()).goto(self.login)
        return context


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    settings = Settings(
        data_dir=tmp_path, temporal_port=free_port(), temporal_ui_port=free_port(), gateway_port=free_port()
    )
    keyring = Keyring.load(tmp_path)
    (tmp_path / "temporal").mkdir()
    server = await asyncio.create_subprocess_exec(*stack_of(settings).parts[0].argv, stdout=subprocess.DEVNULL)
    try:
        client = await connect(settings, keyring, patience_seconds=30)
        await client.start_workflow(
            TaskWorkflow.run.__name__, SECRET, id=task_workflow_id(TASK), task_queue=WORKFLOWS, static_summary=SECRET
        )
        async with running(gateway(settings, client)), async_playwright() as play:
            browser = await play.chromium.launch(executable_path="/usr/bin/chromium", args=FLAGS)
            yield House(settings, Owner.load(tmp_path / "owner-token"), browser, client)
            await browser.close()
    finally:
        server.kill()
        await server.wait()


def gateway(settings: Settings, client: Client | None) -> Gateway:
    """Without a client it is one whose Temporal never answers."""

    async def connected() -> Client:
        return client or await asyncio.Future[Client]()

    folder = settings.data_dir
    keyring = Keyring.load(folder)
    return Gateway(
        connect=connected,
        places=Places(folder / "gateway.db", folder / "pairing-code", folder / "owner-token", folder / "standing.db"),
        blobs=MemoryBlobs(),
        codec=EncryptionCodec(keyring),
        sealer=keyring,
        confirm=SecondFactor(DataPaths(folder), keyring).confirm,
        telegram=None,
        webhook_url="",
        sentence_for=lambda _: None,
        limits=Limits(),
        port=settings.gateway_port,
        kills=kills_in(folder),
        brake=FreeRunning(),
        ui_origins=ui_origins(settings),
        ui_upstream=addresses.embedded_ui(settings),
    )


async def test_the_owner_logs_in_by_the_address_that_status_prints_and_reads_clear_text(house: House) -> None:
    page = await (await house.person(logged_in=True)).new_page()

    await page.goto(house.task)

    await expect(page.get_by_text(SECRET).first).to_be_visible(timeout=PATIENCE_MILLISECONDS)


async def test_who_has_not_logged_in_is_shown_where_to_and_comes_to_the_task_afterwards(house: House) -> None:
    page = await (await house.person(logged_in=False)).new_page()

    await page.goto(house.task)
    before = await page.inner_text("body")
    await page.get_by_label(texts.OWNERS_TOKEN.en).fill(house.owner.token)
    await page.get_by_role("button").click()

    assert texts.HOW_TO.en in before
    assert TASK not in before
    await expect(page.get_by_text(SECRET).first).to_be_visible(timeout=PATIENCE_MILLISECONDS)


async def test_the_uis_own_port_shows_sealed_payloads_only_even_to_the_owners_browser(house: House) -> None:
    own_port = house.task.replace(addresses.gateway(house.settings), addresses.embedded_ui(house.settings))
    codec = addresses.codec_endpoint(house.settings)
    for logged_in in (True, False):
        page = await (await house.person(logged_in=logged_in)).new_page()

        async with page.expect_response(
            lambda answer: answer.url.startswith(codec) and answer.status != 204
        ) as refused:
            await page.goto(own_port)

        assert (await refused.value).status == 401
        await page.wait_for_timeout(WHAT_IS_DECODED_SHOWS_WITHIN_MILLISECONDS)
        assert SECRET not in await page.inner_text("body")


async def test_what_the_page_changes_arrives(house: House) -> None:
    page = await (await house.person(logged_in=True)).new_page()
    await page.goto(f"{addresses.ui(house.settings)}/namespaces")

    code = await page.evaluate(
        """path => fetch(path, {
            method: "POST",
            body: "{}",
            headers: {"X-CSRF-TOKEN": document.cookie.match(/_csrf=([^;]*)/)[1], "Content-Type": "application/json"},
        }).then(answer => answer.status)""",
        f"{addresses.UI_PATH}/api/v1/namespaces/default/workflows/task%2F{TASK}/terminate",
    )

    ended = await house.client.get_workflow_handle(task_workflow_id(TASK)).describe()
    assert (code, ended.status) == (200, WorkflowExecutionStatus.TERMINATED)


async def test_scripts_of_others_get_nothing_of_the_page(house: House) -> None:
    cookie = f"{COOKIE}={house.owner.cookie}"
    asked: list[tuple[dict[str, str], int]] = [
        ({}, 401),
        ({"Cookie": f"{COOKIE}=wrong"}, 401),
        ({"Cookie": cookie, "Origin": "http://127.0.0.1:1"}, 403),
        ({"Cookie": cookie, "Origin": "null"}, 403),
        ({"Cookie": cookie}, 200),
    ]

    async with httpx.AsyncClient(base_url=addresses.gateway(house.settings)) as http:
        answers = [await http.get(f"{addresses.UI_PATH}/api/v1/settings", headers=headers) for headers, _ in asked]

    assert [answer.status_code for answer in answers] == [code for _, code in asked]
    assert not any("access-control-allow-origin" in answer.headers for answer in answers)


async def test_a_silent_ui_is_said_in_words(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path, temporal_ui_port=free_port(), gateway_port=free_port())

    async with httpx.AsyncClient(base_url=addresses.gateway(settings)) as http, running(gateway(settings, None)):
        await eventually_listens(http)
        cookie = {"Cookie": f"{COOKIE}={Owner.load(tmp_path / 'owner-token').cookie}"}
        response = await http.get(f"{addresses.UI_PATH}/", headers=cookie)

    assert (response.status_code, response.text) == (502, texts.UI_SILENT.en)


async def eventually_listens(http: httpx.AsyncClient) -> None:
    for _ in range(200):
        try:
            await http.get("/login")
        except httpx.TransportError:
            await asyncio.sleep(0.05)
        else:
            return
    raise AssertionError("the gateway does not listen")
