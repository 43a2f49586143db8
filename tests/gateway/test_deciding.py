"""A yes or no counts by every way it can be given, and a code, a rule for good or somebody else's words as they may."""

import re
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pyotp
import pytest
from fastapi import FastAPI

from contracts import errors
from contracts.approvals import Shape, StandingRule, approval_purpose
from contracts.messages import Chat, Sender
from contracts.task import Approval, Phase
from contracts.texts import approvals as texts
from contracts.verdicts import RiskPart
from gateway.approvals_page import PATH, approval_routes
from gateway.buttons import Press, token_of
from gateway.channel import Incoming, Pressed
from gateway.deciding import words_of, yes_or_no
from gateway.desk import Refused
from gateway.owner import COOKIE, Owner
from gateway.pairing import Person
from gateway.store import Store
from gateway.view import progress_page
from runtime.keys import Keyring
from runtime.paths import DataPaths
from runtime.second_factor import SecondFactor, new_secret
from tests.gateway.fake_desk import FakeDesk
from tests.gateway.made import CHAT, NOW, TASK, approval, bot, deciding, known_chat, standing_desk, status
from tests.gateway.test_telegram_channel import House
from tests.telegram_server.server import TelegramServer

SHAPE = Shape(tool="shell", parts={"command": "curl https://x.test/*"})
LATER = NOW + timedelta(minutes=1)


@pytest.fixture
async def house(server: TelegramServer, store: Store, tmp_path: Path) -> AsyncIterator[House]:
    known_chat(server)
    telegram = bot(server)
    house = House(server, store, telegram, tmp_path)
    await house.pairing.add(Person("telegram", str(CHAT), "Ann", "owner"))
    await house.pairing.add(Person("telegram", "88", "Bob", "member"))
    yield house
    await telegram.close()


async def card(house: House, given: Approval) -> str:
    """The message that shows this question."""
    return str((await house.show(status(phase=Phase.AWAITING_APPROVAL, approval=given)))["message_id"])


async def hears(house: House, text: str, number: int = 500, sender: int = CHAT, **changes: object) -> str:
    """What the bot says to a message."""
    incoming = Incoming(
        channel="telegram",
        chat=Chat(type="dm", id=str(CHAT)),
        sender=Sender(id=str(sender), name="x"),
        message_id=str(number),
        text=text,
        at=LATER,
    )
    for name, value in changes.items():
        object.__setattr__(incoming, name, value)
    before = len(house.texts())
    await house.reception.receive(incoming)
    said = house.texts()[before:]
    return said[0] if said else ""


@pytest.mark.parametrize(
    ("text", "approve"), [("yes", True), ("Ok.", True), ("同意", True), ("no", False), ("不", False)]
)
async def test_a_plain_word_in_reply_to_the_card_decides(house: House, text: str, approve: bool) -> None:
    shown = approval()

    await hears(house, text, reply_to=await card(house, shown))

    (made,) = house.desk.decisions
    assert (made.approve, made.digest, made.by) == (approve, shown.digest, f"telegram:{CHAT}")


async def test_a_word_that_was_written_before_the_question_stood_there_decides_nothing(house: House) -> None:
    reply_to = await card(house, approval())

    said = await hears(house, "yes", reply_to=reply_to, at=NOW)

    assert said == texts.NOT_THE_CARD.en
    assert house.desk.decisions == []


@pytest.mark.parametrize("text", ["/approve q7k2m", "/deny q7k2m"])
async def test_a_forwarded_command_decides_nothing_and_says_why(house: House, text: str) -> None:
    await card(house, approval())

    said = await hears(house, text, forwarded_from="Mallory")

    assert said == texts.FORWARDED.en
    assert (house.desk.decisions, house.desk.submitted) == ([], [])


async def test_a_forwarded_yes_in_reply_to_the_card_decides_nothing(house: House) -> None:
    await hears(house, "yes", reply_to=await card(house, approval()), forwarded_from="Mallory")

    assert house.desk.decisions == []


@pytest.mark.parametrize("approvers", [(), ("telegram:88",)])
async def test_another_person_of_the_group_decides_only_where_the_policy_says_so(
    house: House, approvers: tuple[str, ...]
) -> None:
    shown = approval().model_copy(update={"approvers": approvers})

    said = await hears(house, "yes", sender=88, reply_to=await card(house, shown))

    assert [made.by for made in house.desk.decisions] == ["telegram:88"] * len(approvers)
    assert (said == texts.NOT_YOURS.en) is not bool(approvers)


async def test_a_yes_that_needs_a_code_is_told_how_and_a_code_makes_it_count_once(house: House, tmp_path: Path) -> None:
    shown = approval().model_copy(update={"step_up": True})
    message_id = await card(house, shown)
    pressed = Pressed(
        channel="telegram",
        chat=Chat(type="dm", id=str(CHAT)),
        sender=Sender(id=str(CHAT), name="x"),
        message_id=message_id,
        press_id="p1",
        data=Press("approve", TASK, token_of(shown)).pack(),
    )
    unset = await hears(house, "/approve q7k2m 123456", 501)
    factor, secret, now = SecondFactor(DataPaths(tmp_path), Keyring.load(tmp_path)), new_secret(), datetime.now(UTC)
    factor.enrol(secret, pyotp.TOTP(secret).at(now - timedelta(seconds=90)), "console:1", now - timedelta(seconds=90))

    by_button = await house.reception.press(pressed)
    code = pyotp.TOTP(secret).now()
    by_code = await hears(house, f"/approve q7k2m {code}", 502)
    again = await hears(house, f"/approve q7k2m {code}", 503)

    assert "asos factor add" in unset
    assert by_button == texts.CODE_NEEDED.say("en", short="q7k2m")
    assert by_code == "Approved."
    assert "used before" in again
    (made,) = house.desk.decisions
    assert factor.verify(made.step_up, approval_purpose(shown.approval_id, shown.digest), datetime.now(UTC))


def labels(shown: Approval) -> list[str]:
    """What the buttons of its card say."""
    page = progress_page(status(approval=shown), NOW, lambda _: None, 4_096)
    return [button.label for row in page.buttons for button in row]


async def test_always_is_offered_and_taken_where_the_call_has_a_shape(house: House) -> None:
    plain, shaped = approval(), approval().model_copy(update={"shape": SHAPE})
    await card(house, plain)
    refused = await hears(house, "/approve q7k2m always", 501)
    house.desk.add(status(phase=Phase.AWAITING_APPROVAL, approval=shaped), f"telegram:{CHAT}")
    taken = await hears(house, "/approve q7k2m task it is fine", 502)

    assert [texts.ALWAYS.en in labels(each) for each in (plain, shaped)] == [False, True]
    assert refused == texts.NO_STANDING.en
    assert taken == texts.ALLOWED_FROM_NOW.en
    assert [(made.always, made.note) for made in house.desk.decisions] == [("task", "it is fine")]


async def test_rules_are_listed_and_taken_back_by_their_person(house: House, tmp_path: Path) -> None:
    desk = standing_desk(tmp_path)
    async with desk._opened() as standing:
        for rule_id, user in (("aa11", "telegram:88"), ("bb22", "telegram:9")):
            await standing.add(StandingRule(rule_id=rule_id, user_id=user, shape=SHAPE, by=user, at=NOW, role="member"))

    listed = await hears(house, "/rules", 501, sender=88)
    foreign = await hears(house, "/revoke bb22", 502, sender=88)
    own = await hears(house, "/revoke AA11", 503, sender=88)

    assert "aa11" in listed
    assert "bb22" not in listed
    assert "curl https://x.test/*" in listed
    assert (foreign, own) == (texts.NO_RULE.say("en", rule_id="bb22"), texts.REVOKED.en)
    assert [rule.rule_id for rule in await desk.rules(None)] == ["bb22"]


def test_the_card_shows_where_it_goes_what_makes_the_risk_and_what_a_yes_takes() -> None:
    shown = approval().model_copy(
        update={
            "destinations": ("anna@x.test", "x.test"),
            "risk_parts": (RiskPart(name="effect.send", points=15), RiskPart(name="tainted", points=10)),
            "step_up": True,
            "shape": SHAPE,
        }
    )
    page = progress_page(status(approval=shown), NOW, lambda _: None, 4_096)

    text = "".join(span.text for span in page.spans)
    for part in (
        "anna@x.test, x.test",
        "60/100 = effect.send +15, tainted +10",
        "second factor",
        "curl https://x.test/*",
    ):
        assert part in text


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ((), ("", "", "")),
        (("123456",), ("", "123456", "")),
        (("always", "123456"), ("person", "123456", "")),
        (("123456", "task", "for", "now"), ("task", "123456", "for now")),
        (("please", "always"), ("", "", "please always")),
    ],
)
def test_what_follows_a_yes_is_understood(words: tuple[str, ...], meant: tuple[str, str, str]) -> None:
    assert words_of(words) == meant


@pytest.mark.parametrize(
    ("text", "meant"),
    [("yes", (True, "")), ("Yes! 123456", (True, "123456")), ("no", (False, "")), ("yes but first", None), ("", None)],
)
def test_only_a_plain_answer_is_a_decision(text: str, meant: tuple[bool, str] | None) -> None:
    assert yes_or_no(text) == meant


class Page:
    """The page of open approvals, and a browser at it."""

    def __init__(self, folder: Path) -> None:
        self.desk, self.owner = FakeDesk(), Owner.load(folder / "owner-token")
        app = FastAPI()
        app.include_router(approval_routes(self.desk, deciding(self.desk, folder), self.owner, lambda _: None))
        self.http = httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1")

    def log_in(self) -> None:
        self.http.cookies.set(COOKIE, self.owner.cookie)

    async def form(self) -> dict[str, str]:
        """The fields of the first form."""
        shown = (await self.http.get(PATH)).text
        return dict(re.findall(r'name="(task|token|proof)" value="([^"]*)"', shown))


@pytest.fixture
async def page(tmp_path: Path) -> AsyncIterator[Page]:
    made = Page(tmp_path)
    yield made
    await made.http.aclose()


def waits(page: Page, given: Approval) -> None:
    page.desk.add(status(phase=Phase.AWAITING_APPROVAL, approval=given), "telegram:9")


async def test_the_page_shows_a_question_escaped_and_takes_its_decision(page: Page) -> None:
    shown = approval(preview="echo '<script>alert(1)</script>'")
    waits(page, shown)
    page.log_in()

    text = (await page.http.get(PATH)).text
    answered = await page.http.post(PATH, data={**await page.form(), "choice": "approve"})

    assert "&lt;script&gt;alert(1)" in text
    assert "<script>" not in text
    assert answered.status_code == 200
    (made,) = page.desk.decisions
    assert (made.approve, made.digest, made.by) == (True, shown.digest, "console:web")


@pytest.mark.parametrize(
    ("change", "headers", "code"),
    [
        ({"proof": "0" * 64}, {}, 403),
        ({"proof": ""}, {}, 403),
        ({}, {"origin": "https://evil.test"}, 403),
        ({"token": "0" * 12}, {}, 409),
        ({"task": "01JDZK5M3V8Q0R7X2C4B6N9P1X"}, {}, 409),
        ({"choice": "maybe"}, {}, 409),
    ],
)
async def test_the_page_takes_no_decision_that_is_not_of_its_own_form(
    page: Page, change: dict[str, str], headers: dict[str, str], code: int
) -> None:
    waits(page, approval())
    page.log_in()

    answered = await page.http.post(PATH, data={**await page.form(), "choice": "approve", **change}, headers=headers)

    assert answered.status_code == code
    assert page.desk.decisions == []


async def test_the_page_is_for_the_owner_alone(page: Page) -> None:
    waits(page, approval())

    codes = [(await page.http.get(PATH)).status_code, (await page.http.post(PATH, data={"choice": "deny"})).status_code]

    assert codes == [401, 401]
    assert page.desk.decisions == []


async def test_what_the_task_refuses_is_said_on_the_page(page: Page) -> None:
    waits(page, approval())
    page.log_in()
    form = await page.form()

    async def refuse(*_: object) -> None:
        raise Refused(errors.NOT_ALLOWED, "no")

    page.desk.decide = refuse  # type: ignore[method-assign,assignment]  # the desk says no
    answered = await page.http.post(PATH, data={**form, "choice": "approve"})

    assert texts.NOT_YOURS.en in answered.text
