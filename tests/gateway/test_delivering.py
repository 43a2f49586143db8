"""Deliveries through the real Telegram client to the strict server: said once, shown newest, whatever fails."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest
from temporalio.exceptions import ApplicationError

from contracts.delivery import DeliverOutcome, Notice
from contracts.messages import Address, Attachment
from contracts.task import Phase, TaskStatus
from gateway.channel import ChannelUnreachable
from gateway.channels.console import Console
from gateway.channels.telegram import Telegram
from gateway.delivering import Deliveries
from gateway.outbox import Outbox
from gateway.pace import Pace
from gateway.speaking import Speaker
from gateway.store import Store
from tests.gateway.made import (
    CHAT,
    NOW,
    MemoryBlobs,
    address,
    approval,
    bot,
    ended,
    fast_pace,
    known_chat,
    request,
    status,
)
from tests.telegram_server.html import utf16
from tests.telegram_server.server import TelegramServer

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 40


class House:
    """Deliveries, and all that they stand on."""

    def __init__(self, server: TelegramServer, telegram: Telegram, outbox: Outbox, pace: Pace) -> None:
        self.server = server
        self.blobs = MemoryBlobs()
        self.speaker = Speaker(telegram, outbox, pace)
        console = Speaker(Console(), outbox, pace)
        self.deliveries = Deliveries(
            {"telegram": self.speaker, "console": console}, outbox, self.blobs, lambda _: None, lambda: NOW
        )

    async def bring(self, shown: object, *, final: bool = False, run: str = "r1") -> DeliverOutcome:
        return await self.deliveries.bring(request(shown, final=final), run)  # type: ignore[arg-type]  # any status

    @property
    def texts(self) -> list[str]:
        return [str(message.get("text", "")) for message in self.server.from_bot(CHAT)]

    async def attachment(self, name: str, content: bytes, media_type: str = "text/plain") -> Attachment:
        ref = await self.blobs.put(content)
        return Attachment(name=name, media_type=media_type, size=len(content), blob=ref)


@pytest.fixture
async def house(server: TelegramServer, outbox: Outbox) -> AsyncIterator[House]:
    known_chat(server)
    telegram = bot(server)
    yield House(server, telegram, outbox, fast_pace())
    await telegram.close()


async def test_a_task_has_one_message_from_its_start_to_its_answer(house: House) -> None:
    for sequence in range(1, 5):
        await house.bring(status(sequence, step=sequence))
    outcome = await house.bring(ended("**42** is it"), final=True)

    (message,) = house.server.from_bot(CHAT)
    assert outcome == DeliverOutcome(delivered=True, message_id=str(message["message_id"]))
    assert message["text"] == "42 is it"
    assert message["entities"] == [{"type": "bold", "offset": 0, "length": 2}]
    assert "reply_markup" not in message
    assert len(house.server.calls("sendMessage")) == 1


async def test_nothing_is_sent_with_a_link_preview(house: House) -> None:
    await house.bring(status(1, goal="https://example.org"))
    await house.bring(ended("see https://example.org"), final=True)

    calls = house.server.calls("sendMessage") + house.server.calls("editMessageText")
    assert calls
    assert all('"is_disabled": true' in call.values["link_preview_options"] for call in calls)


async def test_an_older_status_and_one_after_the_end_change_nothing(house: House) -> None:
    await house.bring(status(5, step=5))
    assert not (await house.bring(status(4, step=4))).delivered
    assert "step 5" in house.texts[0]

    await house.bring(ended("the end", 9), final=True)
    assert not (await house.bring(status(10))).delivered

    assert house.texts == ["the end"]


async def test_the_same_content_is_not_edited_again(house: House) -> None:
    await house.bring(status(1))
    await house.bring(status(2))
    await house.bring(ended("x"), final=True)
    await house.bring(ended("x"), final=True)

    assert len(house.server.calls("editMessageText")) == 2


@pytest.mark.parametrize("kind", ["drop", "reset"])
async def test_a_send_whose_answer_is_lost_leaves_at_most_a_placeholder(house: House, kind: str) -> None:
    house.server.fail("sendMessage", kind)  # type: ignore[arg-type]  # from a table
    with pytest.raises(ChannelUnreachable):
        await house.bring(status(1))

    await house.bring(status(2))
    await house.bring(ended("only once"), final=True)

    assert house.texts.count("only once") == 1
    assert all(text in ("⏳ …", "only once") for text in house.texts)
    assert len(house.texts) == (2 if kind == "drop" else 1)


@pytest.mark.parametrize("kind", ["drop", "500", "reset"])
async def test_a_failed_edit_is_made_good_by_the_next_attempt(house: House, kind: str) -> None:
    await house.bring(status(1))
    house.server.fail("editMessageText", kind)  # type: ignore[arg-type]  # from a table
    with pytest.raises(ChannelUnreachable):
        await house.bring(ended("the answer"), final=True)

    await house.bring(ended("the answer"), final=True)

    assert house.texts == ["the answer"]


async def test_a_storm_of_429_is_waited_out_without_hurry(house: House) -> None:
    house.server.fail("editMessageText", "429", times=2, retry_after=1)
    begun = asyncio.get_running_loop().time()

    await house.bring(ended("at last"), final=True)

    assert asyncio.get_running_loop().time() - begun >= 2
    assert len(house.server.calls("editMessageText")) == 3
    assert house.texts == ["at last"]


async def test_a_long_429_is_given_to_temporal_to_wait_for(house: House) -> None:
    house.server.fail("sendMessage", "429", retry_after=600)

    with pytest.raises(ApplicationError) as raised:
        await house.bring(status(1))
    with pytest.raises(ApplicationError):
        await house.bring(status(2))

    assert raised.value.next_retry_delay is not None
    assert raised.value.next_retry_delay.total_seconds() > 590
    assert not raised.value.non_retryable
    assert len(house.server.calls("sendMessage")) == 1


async def test_who_blocked_the_bot_is_not_tried_for_ever(house: House) -> None:
    house.server.state.blocked.add(CHAT)

    outcome = await house.bring(ended("hello"), final=True)

    assert not outcome.delivered
    assert outcome.refused is not None
    assert "blocked" in outcome.refused


async def test_an_unknown_channel_is_named(house: House) -> None:
    strange = request(status()).model_copy(update={"address": Address(channel="pigeon", chat_id="1")})

    outcome = await house.deliveries.bring(strange, "r1")

    assert outcome.refused == "no channel 'pigeon' is running here"


async def test_the_terminal_is_brought_nothing(house: House) -> None:
    given = request(status()).model_copy(update={"address": Address(channel="console", chat_id="1")})

    assert (await house.deliveries.bring(given, "r1")).delivered
    assert house.server.from_bot() == []


async def test_a_message_that_the_person_deleted_comes_back(house: House) -> None:
    await house.bring(status(1))
    (message,) = house.server.from_bot(CHAT)
    del house.server.state.messages[CHAT, message["message_id"]]

    await house.bring(ended("still here"), final=True)

    assert house.texts == ["still here"]


async def test_a_long_answer_arrives_whole_in_order_in_balanced_parts(house: House) -> None:
    lines = [f"line {number} with `code` & <tags>" for number in range(100)]
    answer = "\n\n".join(lines[:50]) + "\n\n```\n" + "\n".join(lines[50:]) + "\n" + "x" * 3_000 + "\n```"

    await house.bring(status(1))
    await house.bring(ended(answer), final=True)

    assert 1 < len(house.texts) <= 3
    assert all(utf16(text) <= 4_096 for text in house.texts)
    together = "".join(house.texts)
    positions = [together.index(f"line {number} with") for number in range(100)]
    assert positions == sorted(positions)
    assert together.count("x") >= 3_000


async def test_a_very_long_answer_comes_as_its_beginning_and_a_file(house: House) -> None:
    answer = "the beginning " + "word " * 10_000

    await house.bring(ended(answer), final=True)

    text, document = house.server.from_bot(CHAT)
    assert text["text"].startswith("the beginning")
    assert "answer.md" in text["text"]
    assert house.server.state.files[document["document"]["file_id"]].decode() == answer


async def test_an_answer_in_a_blob_is_fetched_and_a_lost_one_is_confessed(house: House) -> None:
    ref = await house.blobs.put(b"whole answer")
    await house.bring(ended("who", 8).model_copy(update={"answer_ref": ref}), final=True)
    assert house.texts == ["whole answer"]

    house.blobs.kept.clear()
    await house.bring(ended("who", 9).model_copy(update={"answer_ref": ref}), final=True)

    assert house.texts == ["who\n\nThe rest of the answer cannot be read any more."]


async def test_files_follow_the_answer_pictures_as_pictures(house: House) -> None:
    files = (
        await house.attachment("shot.png", PNG, "image/png"),
        await house.attachment("report.md", b"# report"),
        await house.attachment("broken.png", b"no picture", "image/png"),
    )

    await house.bring(ended("done", files=files), final=True)
    await house.bring(ended("done", files=files), final=True)

    answer, picture, report, broken = house.server.from_bot(CHAT)
    assert answer["text"] == "done"
    assert "photo" in picture
    assert report["document"]["file_name"] == "report.md"
    assert broken["document"]["file_name"] == "broken.png"


async def test_a_file_over_the_limit_is_named_in_the_answer(house: House) -> None:
    ref = await house.blobs.put(b"x")
    big = Attachment(name="film.mp4", size=80 * 1024 * 1024, blob=ref)

    await house.bring(ended("done", files=(big,)), final=True)

    (message,) = house.server.from_bot(CHAT)
    assert "film.mp4 (80 MB) is larger than this chat takes (50 MB)" in message["text"]


NASTY = [
    "<b>unclosed",
    "a < b & c > d &amp; &nope;",
    "**bold *mixed** it*",
    "mail me@example.org _now",
    "```\nunclosed fence",
    "[x](tg://user?id=1) ](",
    "\ud83d lone half",
    "nul \x00 and \x1b[31m",
    "😀" * 2_100,
    "\u202eevil",
]


@pytest.mark.parametrize("text", NASTY)
async def test_any_answer_arrives(house: House, text: str) -> None:
    await house.bring(ended(text), final=True)

    assert house.texts
    letters = [character for character in text if character.isalpha()]
    assert [c for c in "".join(house.texts) if c.isalpha()] == letters or "tg:" in text


async def test_what_telegram_cannot_parse_arrives_plain(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.telegram.writing.to_html", lambda _: "<broken")

    await house.bring(ended("**fine** & <dandy>"), final=True)

    assert house.texts == ["fine & <dandy>"]


async def test_an_approval_card_has_buttons_and_loses_them_with_the_decision(house: House) -> None:
    await house.bring(status(1, Phase.AWAITING_APPROVAL, approval=approval()))
    (message,) = house.server.from_bot(CHAT)
    data = [button["callback_data"] for row in message["reply_markup"]["inline_keyboard"] for button in row]
    assert [each.split(":")[0] for each in data] == ["approve", "deny", "stop"]

    await house.bring(status(2))

    (message,) = house.server.from_bot(CHAT)
    data = [button["callback_data"] for row in message["reply_markup"]["inline_keyboard"] for button in row]
    assert [each.split(":")[0] for each in data] == ["pause", "stop"]


async def test_a_wait_that_goes_on_rings_once_and_again_the_next_day(house: House) -> None:
    def waiting(sequence: int, since: timedelta) -> TaskStatus:
        asked = approval().model_copy(update={"asked_at": NOW - since})
        return status(sequence, phase=Phase.AWAITING_APPROVAL, approval=asked)

    await house.bring(waiting(1, timedelta(seconds=1)))
    assert len(house.texts) == 1

    for sequence in (2, 3):
        await house.bring(waiting(sequence, timedelta(minutes=2)))
    await house.bring(waiting(4, timedelta(days=1)))

    assert [text.startswith("🔔") for text in house.texts] == [False, True, True]
    assert f"/approve {approval().approval_id}" in house.texts[1]


async def test_a_retried_task_gets_a_message_of_its_own_and_its_old_run_is_silent(house: House) -> None:
    await house.bring(ended("first answer", 9), final=True, run="r1")

    await house.bring(status(3), run="r2")
    assert not (await house.bring(ended("late", 10), final=True, run="r1")).delivered
    await house.bring(ended("second answer", 5), final=True, run="r2")

    assert house.texts == ["first answer", "second answer"]


async def test_a_continued_run_goes_on_in_the_same_message(house: House) -> None:
    await house.bring(status(3), run="r1")
    await house.bring(status(4, step=4), run="r2")
    await house.bring(ended("end"), final=True, run="r2")

    assert house.texts == ["end"]


async def test_many_deliveries_of_one_task_at_once_end_with_the_newest(house: House) -> None:
    await asyncio.gather(*(house.bring(status(sequence, step=sequence)) for sequence in range(1, 9)))

    assert len(house.texts) == 1
    assert "step 8" in house.texts[0]


async def test_a_notice_is_said_once_even_if_its_answer_is_lost(house: House) -> None:
    notice = Notice(address=address(), text="hello", key="k1")
    house.server.fail("sendMessage", "drop")
    with pytest.raises(ChannelUnreachable):
        await house.speaker.notify(notice)

    await house.speaker.notify(notice)

    assert house.texts == ["hello"]


async def test_a_notice_that_certainly_was_not_said_is_said_later(house: House) -> None:
    notice = Notice(address=address(), text="hello", key="k1")
    house.server.fail("sendMessage", "500")
    with pytest.raises(ChannelUnreachable):
        await house.speaker.notify(notice)

    await house.speaker.notify(notice)

    assert house.texts == ["hello"]


async def test_what_was_said_is_known_after_a_restart(house: House, store: Store) -> None:
    await house.bring(status(1))

    telegram = bot(house.server)
    later = House(house.server, telegram, Outbox(store), fast_pace())
    await later.bring(ended("same message"), final=True)
    await telegram.close()

    assert later.texts == ["same message"]
