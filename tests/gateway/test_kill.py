"""The kill switch where people speak: a chat and a page pull it without Temporal, and only the owner lifts it."""

import re
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pyotp
import pytest
from fastapi import FastAPI

from contracts import errors
from contracts.audit import NoRecord
from contracts.kill import LiftOrder
from contracts.task import Limits, TaskRecord
from gateway.desk import Refused
from gateway.kill_orders import KillOrders
from gateway.kill_page import kill_routes
from gateway.login_page import login_routes
from gateway.obeying import Obeying
from gateway.outbox import Outbox
from gateway.owner import COOKIE, Owner
from gateway.pairing import Pairing, Person
from gateway.reception import Reception
from gateway.requests import Requests
from gateway.speaking import Speaker
from gateway.store import Store
from gateway.temporal_desk import TemporalDesk
from runtime.keys import Keyring
from runtime.killing.desk import KillDesk
from runtime.paths import DataPaths
from runtime.second_factor import SecondFactor, new_secret
from tests.brakes import Pulled
from tests.gateway.fake_desk import FakeDesk
from tests.gateway.made import CHAT, NOW, MemoryBlobs, bot, deciding, fast_pace, known_chat, standing_desk, status
from tests.gateway.test_desk import message
from tests.telegram_server.server import TelegramServer

MEMBER = 78


class Switch:
    """The real switch in a folder, with a second factor."""

    def __init__(self, root: Path) -> None:
        paths, keyring = DataPaths(root), Keyring.load(root)
        factor = SecondFactor(paths, keyring)
        self._secret, before = new_secret(), datetime.now(UTC) - timedelta(minutes=5)
        factor.enrol(self._secret, pyotp.TOTP(self._secret).at(before), "console:anna", before)
        self.orders: list[LiftOrder] = []
        self.desk = KillDesk.of(paths, keyring, factor, NoRecord(), self._elsewhere)

    @property
    def code(self) -> str:
        return pyotp.TOTP(self._secret).now()

    async def levels(self) -> list[tuple[str, str | None, str]]:
        return [(kill.level, kill.task_id, kill.by) for kill in await self.desk.in_force()]

    async def _elsewhere(self, order: LiftOrder) -> None:
        self.orders.append(order)


@pytest.fixture
def switch(tmp_path: Path) -> Switch:
    return Switch(tmp_path / "installation")


class Chat:
    """A bot with an owner and a member, in front of a desk that is down unless it is told otherwise."""

    def __init__(self, server: TelegramServer, store: Store, switch: Switch, folder: Path) -> None:
        self.server, self.desk = server, FakeDesk()
        self.desk.down = True
        self.telegram, self.pairing = bot(server), Pairing(store)
        outbox, requests = Outbox(store), Requests(store)
        orders = KillOrders(switch.desk, self.desk, outbox, requests)
        decides = deciding(self.desk, folder)
        obeying = Obeying(self.desk, outbox, requests, lambda _: None, decides, standing_desk(folder), orders)
        speakers = {"telegram": Speaker(self.telegram, outbox, fast_pace())}
        blobs = MemoryBlobs()
        self.reception = Reception(
            self.desk, speakers, self.pairing, outbox, requests, blobs, obeying, Limits(), decides
        )

    async def says(self, text: str, chat_id: int = CHAT) -> str:
        before = len(self.server.from_bot(chat_id))
        await self.server.say(chat_id, text)
        await self.server.until(lambda: len(self.server.from_bot(chat_id)) > before)
        return str(self.server.from_bot(chat_id)[before].get("text", ""))


@pytest.fixture
async def chat(server: TelegramServer, store: Store, switch: Switch, tmp_path: Path) -> AsyncIterator[Chat]:
    known_chat(server)
    known_chat(server, MEMBER)
    made = Chat(server, store, switch, tmp_path)
    await made.pairing.add(Person("telegram", str(CHAT), "Ann", "owner"))
    await made.pairing.add(Person("telegram", str(MEMBER), "Bob", "member"))
    made.telegram.start(made.reception)
    yield made
    await made.telegram.stop()
    await made.telegram.close()


@pytest.mark.parametrize(("text", "level"), [("/kill", "all"), ("/kill network", "network"), ("/KILL tools", "tools")])
async def test_the_owner_stops_from_the_chat_while_temporal_is_away(
    chat: Chat, switch: Switch, text: str, level: str
) -> None:
    said = await chat.says(text)

    assert await switch.levels() == [(level, None, f"telegram:{CHAT}")]
    assert "/lift" in said


async def test_a_lift_from_the_chat_needs_a_code_that_is_right(chat: Chat, switch: Switch) -> None:
    await chat.says("/kill")

    assert "asos factor add" in await chat.says("/lift")
    await chat.says("/lift 123456" if switch.code != "123456" else "/lift 654321")
    assert await switch.levels() != []

    assert "Lifted" in await chat.says(f"/lift {switch.code}")
    assert await switch.levels() == []
    assert len(switch.orders) == 1
    assert "Nothing is stopped" in await chat.says("/lift 123456")


async def test_a_member_stops_own_tasks_and_nothing_else(chat: Chat, switch: Switch) -> None:
    own, foreign = (
        status(record=TaskRecord(task_id=f"01BX5ZZKBKACTAV9WEVGEMMV{end}", created_at=NOW)) for end in ("RZ", "S0")
    )
    chat.desk.down = False
    chat.desk.add(own, f"telegram:{MEMBER}")
    chat.desk.add(foreign, f"telegram:{CHAT}")

    for text in ("/kill", "/kill network", "/kill task EMMVS0", f"/kill task {foreign.record.task_id}", "/lift 1"):
        assert "only the owner" in await chat.says(text, MEMBER)
    assert await switch.levels() == []

    await chat.says("/kill task EMMVRZ", MEMBER)
    assert await switch.levels() == [("task", own.record.task_id, f"telegram:{MEMBER}")]


@pytest.mark.parametrize("text", ["/kill everything", "/kill task", "/kill task ?", "/kill network now"])
async def test_what_is_no_stop_is_explained_and_stops_nothing(chat: Chat, switch: Switch, text: str) -> None:
    assert "/kill network" in await chat.says(text)
    assert await switch.levels() == []


async def test_nothing_new_begins_while_all_is_stopped() -> None:
    desk = TemporalDesk(brake=Pulled("task"))

    with pytest.raises(Refused) as begun:
        await desk.submit(message("x"))
    with pytest.raises(Refused) as again:
        await desk.retry("t1", None, reason="r", request_id="1")

    assert (begun.value.code, again.value.code) == (errors.HALTED, errors.HALTED)


async def test_a_person_who_writes_meanwhile_is_told_that_all_is_stopped(chat: Chat) -> None:
    chat.desk.down, chat.desk.refusal = False, Refused(errors.HALTED, "pulled")

    assert "stopped by the kill switch" in await chat.says("do something")


class Page:
    """The page as the owner's browser has it."""

    def __init__(self, http: httpx.AsyncClient, owner: Owner) -> None:
        self.http, self.owner = http, owner
        self.cookie = {"Cookie": f"{COOKIE}={owner.cookie}"}

    async def press(self, do: str, **changes: str) -> httpx.Response:
        form = re.search(r'name="form" value="(\w+)"', (await self.http.get("/kill", headers=self.cookie)).text)
        data = {"form": form[1] if form else "", "do": do, **changes}
        return await self.http.post("/kill", data=data, headers=self.cookie | {"Origin": "http://127.0.0.1:8420"})


@pytest.fixture
async def page(tmp_path: Path, switch: Switch) -> AsyncIterator[Page]:
    owner, app = Owner.load(tmp_path / "owner-token"), FastAPI()
    app.include_router(login_routes(owner, ""))
    app.include_router(kill_routes(owner, switch.desk))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1:8420") as http:
        yield Page(http, owner)


async def test_one_button_stops_everything_and_the_code_lifts_it(page: Page, switch: Switch) -> None:
    assert "Nothing is stopped" in (await page.http.get("/kill", headers=page.cookie)).text

    stopped = await page.press("all")
    assert stopped.status_code == 200
    assert await switch.levels() == [("all", None, "web:owner")]
    assert "In force" in stopped.text

    assert (await page.press("lift", code="000000" if switch.code != "000000" else "1")).status_code == 403
    assert (await page.press("lift", code=switch.code)).status_code == 200
    assert await switch.levels() == []


async def test_nobody_else_and_no_other_page_stops_or_lifts(page: Page, switch: Switch) -> None:
    await switch.desk.pull("network", None, "console:anna")
    before = await switch.levels()
    form = {"form": page.owner.form_proof("/kill"), "do": "all"}

    no_cookie = await page.http.post("/kill", data=form)
    other_page = await page.http.post("/kill", data=form, headers=page.cookie | {"Origin": "http://evil.test"})
    no_proof = await page.press("all", form="guessed")
    no_button = await page.press("everything")
    looking = await page.http.get("/kill")

    assert [no_cookie.status_code, other_page.status_code, no_proof.status_code] == [401, 403, 403]
    assert no_button.status_code == 400
    assert (looking.status_code, looking.headers["location"]) == (303, "/login?next=/kill")
    assert await switch.levels() == before


async def test_a_login_for_the_page_goes_on_to_it(page: Page) -> None:
    ticket = page.owner.ticket(datetime.now(UTC))

    entered = await page.http.get("/login", params={"ticket": ticket, "next": "/kill"})

    assert entered.headers["location"] == "/kill"
