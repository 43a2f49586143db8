"""Telegram in, through the real client: nothing is acknowledged before it is safe, and nothing comes twice."""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from contracts.conversation import Accepted
from contracts.messages import INLINE_TEXT_BYTES, MAX_TEXT_BYTES
from contracts.task import Limits, Phase
from gateway.buttons import Press, token_of, token_of_question
from gateway.channels.telegram import Telegram
from gateway.delivering import Deliveries
from gateway.desk import Refused
from gateway.obeying import Obeying
from gateway.outbox import Outbox
from gateway.pairing import Pairing, Person
from gateway.reception import Reception
from gateway.requests import Requests
from gateway.speaking import Speaker
from gateway.store import Store, StoreUnusable
from tests.gateway.fake_desk import FakeDesk
from tests.gateway.made import (
    CHAT,
    NOW,
    TASK,
    MemoryBlobs,
    approval,
    asked,
    bot,
    deciding,
    ended,
    fast_pace,
    known_chat,
    request,
    standing_desk,
    status,
)
from tests.telegram_server.server import TelegramServer

STRANGER = 666


class House:
    """The whole way in, with a desk from memory at its end."""

    def __init__(self, server: TelegramServer, store: Store, telegram: Telegram, folder: Path) -> None:
        self.server = server
        self.telegram = telegram
        self.desk = FakeDesk()
        self.blobs = MemoryBlobs()
        self.outbox, self.requests, self.pairing = Outbox(store), Requests(store), Pairing(store)
        self.speakers = {"telegram": Speaker(telegram, self.outbox, fast_pace())}
        self.deliveries = Deliveries(self.speakers, self.outbox, self.blobs, lambda _: None, lambda: NOW)
        decides = deciding(self.desk, folder)
        obeying = Obeying(self.desk, self.outbox, self.requests, lambda _: None, decides, standing_desk(folder))
        self.reception = Reception(
            self.desk, self.speakers, self.pairing, self.outbox, self.requests, self.blobs, obeying, Limits(), decides
        )

    async def show(self, shown: object, owner: int = CHAT) -> dict[str, object]:
        """A task of that person has its message in the chat."""
        self.desk.add(shown, f"telegram:{owner}")  # type: ignore[arg-type]  # any status
        await self.deliveries.bring(request(shown), "r1")  # type: ignore[arg-type]  # any status
        return self.server.from_bot(CHAT)[-1]

    def texts(self, chat_id: int = CHAT) -> list[str]:
        return [str(message.get("text", "")) for message in self.server.from_bot(chat_id)]

    async def says(self, text: str, chat_id: int = CHAT) -> str:
        """What the bot says after that message."""
        before = len(self.texts(chat_id))
        await self.server.say(chat_id, text)
        await self.server.until(lambda: len(self.texts(chat_id)) > before)
        return self.texts(chat_id)[before]


@pytest.fixture
async def house(server: TelegramServer, store: Store, tmp_path: Path) -> AsyncIterator[House]:
    known_chat(server)
    telegram = bot(server)
    house = House(server, store, telegram, tmp_path)
    await house.pairing.add(Person("telegram", str(CHAT), "Ann", "owner"))
    telegram.start(house.reception)
    yield house
    await telegram.stop()
    await telegram.close()


async def test_a_text_becomes_a_message_in_the_common_shape(house: House) -> None:
    said = await house.server.say(CHAT, "打开 example.org")

    await house.server.until(lambda: house.desk.submitted)

    message = house.desk.submitted[0].message
    assert message.message_id == f"{CHAT}:{said['message']['message_id']}"
    assert (message.platform, message.channel.type, message.channel.id) == ("telegram", "dm", str(CHAT))
    assert (message.sender.id, message.role, message.language) == (str(CHAT), "owner", "zh")
    assert message.content.text == "打开 example.org"
    assert house.desk.submitted[0].address.reply_to == str(said["message"]["message_id"])


async def test_the_same_update_five_times_is_handed_on_once(house: House) -> None:
    update = await house.server.say(CHAT, "once")
    await house.server.until(lambda: house.desk.submitted)
    for number in range(4):
        await house.server.again(update if number < 2 else update | {"update_id": update["update_id"] + 10 + number})

    await house.server.until(lambda: not house.server.state.updates)

    assert len(house.desk.submitted) == 1


async def test_while_the_desk_is_away_updates_stay_unacknowledged_and_are_handled_in_order_later(house: House) -> None:
    house.desk.down = True
    for number in range(3):
        await house.server.say(CHAT, f"message {number}")
    await house.server.until(lambda: any("engine does not answer" in text for text in house.texts()))
    assert len(house.server.state.updates) == 3

    house.desk.down = False
    await house.server.until(lambda: len(house.desk.submitted) == 3)

    assert [each.message.content.text for each in house.desk.submitted] == [f"message {n}" for n in range(3)]
    await house.server.until(lambda: not house.server.state.updates)


async def test_with_a_full_disk_a_message_waits_and_is_handled_when_there_is_room(house: House, store: Store) -> None:
    [(pages,)] = await store.rows("PRAGMA page_count")
    await store.rows(f"PRAGMA max_page_count = {pages!s}")
    with pytest.raises(StoreUnusable, match="full"):
        await store.write("INSERT INTO facts VALUES ('ballast', zeroblob(100000))")
    await fill(store)
    await house.server.say(CHAT, "keep me")
    await asyncio.sleep(1.0)
    assert len(house.server.state.updates) == 1

    await store.rows("PRAGMA max_page_count = 1000000")
    await house.server.until(lambda: not house.server.state.updates)

    assert {each.message.content.text for each in house.desk.submitted} == {"keep me"}


async def fill(store: Store) -> None:
    """Leave no room for one more row."""
    number = 0
    while True:
        number += 1
        try:
            await store.write("INSERT INTO handled VALUES (?, 0)", f"ballast {number:>40}")
        except StoreUnusable:
            return


async def test_one_chat_does_not_wait_for_another(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    await house.pairing.add(Person("telegram", "78", "Bob", "member"))
    gate = asyncio.Event()
    content = await house.server.send_document(CHAT, "big.bin", b"x" * 1000)
    house.server.fail("getFile", "hang", times=1)
    await house.server.say(78, "quick")

    await house.server.until(lambda: house.desk.submitted, 1.5)

    assert house.desk.submitted[0].message.content.text == "quick"
    assert content["update_id"]
    gate.set()


async def test_stop_is_acknowledged_within_a_second_even_behind_a_slow_message(house: House) -> None:
    await house.show(status())
    house.server.fail("getFile", "hang", times=1)
    await house.server.send_document(CHAT, "big.bin", b"x")
    begun = asyncio.get_running_loop().time()

    text = await house.says("/stop")

    assert asyncio.get_running_loop().time() - begun < 1.0
    assert text.startswith("Stopping: fetch the page")
    assert ("stop", TASK) in house.desk.acts
    await house.server.until(lambda: ("drop", str(CHAT), f"telegram:{CHAT}") in house.desk.acts)


async def test_stop_is_acknowledged_within_a_second_while_the_desk_is_away(house: House) -> None:
    await house.show(status())
    house.desk.down = True
    begun = asyncio.get_running_loop().time()

    text = await house.says("/stop")
    assert asyncio.get_running_loop().time() - begun < 1.0
    assert text.startswith("Understood: stop")

    house.desk.down = False
    await house.server.until(lambda: ("stop", TASK) in house.desk.acts)


async def test_a_document_is_stored_with_a_safe_name(house: House) -> None:
    await house.server.send_document(CHAT, "../../etc/pass\u202ewd\x00.txt", b"\x00\xff junk", caption="look")

    await house.server.until(lambda: house.desk.submitted)

    content = house.desk.submitted[0].message.content
    (attachment,) = content.attachments
    assert attachment.name == "passwd\ufffd.txt"
    assert attachment.blob is not None
    assert await house.blobs.get(attachment.blob) == b"\x00\xff junk"
    assert (content.type, content.text) == ("file", "look")


async def test_photos_and_voice_arrive_as_attachments(house: House) -> None:
    await house.server.send_photo(CHAT, b"\x89PNG")
    await house.server.send_voice(CHAT, b"OggS")

    await house.server.until(lambda: len(house.desk.submitted) == 2)

    kinds = [
        (each.message.content.type, each.message.content.attachments[0].media_type) for each in house.desk.submitted
    ]
    assert kinds == [("image", "image/jpeg"), ("voice", "audio/ogg")]


@pytest.mark.parametrize("announced", [True, False])
async def test_a_file_over_the_limit_is_refused_with_its_reason_and_polling_goes_on(
    house: House, announced: bool
) -> None:
    extra = {} if announced else {"document": None}
    update = await house.server.send_document(CHAT, "film.mp4", b"x", size=30 * 1024 * 1024)
    if not announced:
        del update["message"]["document"]["file_size"]
    assert extra is not None

    await house.server.until(lambda: any("film.mp4" in text and "20 MB" in text for text in house.texts()))
    await house.server.say(CHAT, "next")

    await house.server.until(lambda: house.desk.submitted)
    assert house.desk.submitted[0].message.content.text == "next"


async def test_a_long_text_travels_as_a_blob_and_a_longer_one_is_refused(house: House) -> None:
    await house.server.say(CHAT, "y" * (INLINE_TEXT_BYTES + 1))
    await house.server.until(lambda: house.desk.submitted)
    content = house.desk.submitted[0].message.content
    assert content.text == ""
    assert content.text_ref is not None
    assert len(await house.blobs.get(content.text_ref)) == INLINE_TEXT_BYTES + 1

    text = await house.says("z" * (MAX_TEXT_BYTES + 1))

    assert "at most 256 KB" in text
    assert len(house.desk.submitted) == 1


async def test_junk_is_made_harmless(house: House) -> None:
    await house.server.say(CHAT, "a\x00b\ud83dc\u2028d\x1b[31m")

    await house.server.until(lambda: house.desk.submitted)

    assert house.desk.submitted[0].message.content.text == "a\ufffdb?c\nd\ufffd[31m"


async def test_a_forwarded_text_is_quoted_and_its_commands_are_not_obeyed(house: House) -> None:
    origin = {"type": "hidden_user", "date": 1, "sender_user_name": "Mallory\n/stop"}
    await house.server.say(CHAT, "/stop everything\u2028/run rm -rf /", forward_origin=origin)

    await house.server.until(lambda: house.desk.submitted)

    text = house.desk.submitted[0].message.content.text
    assert text.startswith("> Forwarded from Mallory /stop")
    assert all(line.startswith("> ") for line in text.splitlines())
    assert house.desk.acts == []


async def test_an_edit_reaches_the_task_that_the_message_started_and_starts_none(house: House) -> None:
    house.desk.next = Accepted(disposition="started", task_id=TASK)
    said = await house.server.say(CHAT, "first")
    await house.server.until(lambda: house.desk.submitted)

    await house.server.edit(said["message"], "second")
    await house.server.until(lambda: house.desk.said)

    assert house.desk.said[0].turn.text == "Correction of my message: second"
    assert len(house.desk.submitted) == 1

    house.desk.refusal = Refused("TaskClosing", "over")
    await house.server.edit(said["message"], "third")
    await house.server.until(lambda: any("ended already" in text for text in house.texts()))


async def test_a_stranger_gets_one_neutral_reply_and_nothing_else(house: House) -> None:
    await house.server.say(STRANGER, "hello")
    await house.server.say(STRANGER, "/tasks")
    await house.server.send_document(STRANGER, "x.txt", b"x")
    await house.server.say(-5, "hello group", user_id=STRANGER)
    await house.server.until(lambda: not house.server.state.updates)

    assert len(house.texts(STRANGER)) == 1
    assert "private assistant" in house.texts(STRANGER)[0]
    assert house.texts(-5) == []
    assert house.desk.submitted == []
    assert house.server.calls("getFile") == []


async def test_a_code_pairs_and_from_then_on_messages_are_heard(house: House) -> None:
    code = await house.pairing.new_code()

    assert "Welcome" in await house.says(f"/start {code}", STRANGER)
    await house.server.say(STRANGER, "work")

    await house.server.until(lambda: house.desk.submitted)
    assert house.desk.submitted[0].message.role == "member"


async def test_who_is_removed_is_not_heard_from_the_next_message_on(house: House) -> None:
    message = await house.show(status(phase=Phase.AWAITING_APPROVAL, approval=approval()))
    await house.pairing.remove("telegram", str(CHAT))

    await house.server.say(CHAT, "still me?")
    query = await house.server.press(message, "Approve")

    await house.server.until(lambda: query in house.server.state.answers)
    assert house.server.state.answers[query] == "You cannot do that."
    assert house.desk.decisions == []
    assert house.desk.submitted == []


async def test_a_button_decides_exactly_what_was_shown(house: House) -> None:
    message = await house.show(status(phase=Phase.AWAITING_APPROVAL, approval=approval()))

    query = await house.server.press(message, "Approve")

    await house.server.until(lambda: query in house.server.state.answers)
    assert house.server.state.answers[query] == "Approved."
    (decision,) = house.desk.decisions
    assert decision.approve
    assert (decision.by, decision.args_sha256) == (f"telegram:{CHAT}", approval().args_sha256)


FORGERIES: dict[str, Callable[[], str]] = {
    "nonsense": lambda: "💥",
    "another task": lambda: Press("approve", "01JDZK5M3V8Q0R7X2C4B6N9P1X", token_of(approval())).pack(),
    "other arguments": lambda: Press("approve", TASK, token_of(approval(args="b"))).pack(),
    "no token": lambda: Press("approve", TASK).pack(),
}


@pytest.mark.parametrize("forgery", FORGERIES)
async def test_a_forged_button_decides_nothing(house: House, forgery: str) -> None:
    message = await house.show(status(phase=Phase.AWAITING_APPROVAL, approval=approval()))

    query = await house.server.press(message, "", data=FORGERIES[forgery]())

    await house.server.until(lambda: query in house.server.state.answers)
    assert house.desk.decisions == []


async def test_a_button_pressed_by_another_person_decides_nothing(house: House) -> None:
    await house.pairing.add(Person("telegram", "78", "Bob", "member"))
    message = await house.show(status(phase=Phase.AWAITING_APPROVAL, approval=approval()))

    queries = [await house.server.press(message, "Approve", user_id=user) for user in (78, STRANGER)]
    queries.append(await house.server.press(message, "Stop", user_id=78))

    await house.server.until(lambda: all(query in house.server.state.answers for query in queries))
    assert house.desk.decisions == []
    assert house.desk.acts == []


async def test_an_expired_button_says_so(house: House) -> None:
    message = await house.show(status(phase=Phase.AWAITING_APPROVAL, approval=approval()))
    house.desk.add(status(2), f"telegram:{CHAT}")

    query = await house.server.press(message, "Approve")

    await house.server.until(lambda: query in house.server.state.answers)
    assert "no longer open" in house.server.state.answers[query]
    assert house.desk.decisions == []


async def test_a_press_while_the_desk_is_away_counts_when_it_is_back(house: House) -> None:
    message = await house.show(status(phase=Phase.AWAITING_APPROVAL, approval=approval()))
    house.desk.down = True
    query = await house.server.press(message, "Deny")
    await house.server.until(lambda: "pass it on" in house.server.state.answers.get(query, ""))

    house.desk.down = False

    await house.server.until(lambda: house.desk.decisions)
    assert not house.desk.decisions[0].approve


async def test_a_choice_answers_the_question(house: House) -> None:
    shown = status(phase=Phase.AWAITING_USER, asked=asked("red", "blue"))
    message = await house.show(shown)

    await house.server.press(message, "blue")
    await house.server.until(lambda: house.desk.answers)
    forged = Press("choose", TASK, token_of_question(asked("red", "blue")), 9).pack()
    query = await house.server.press(message, "", data=forged)
    await house.server.until(lambda: query in house.server.state.answers)

    (answer,) = house.desk.answers
    assert (answer.question_id, answer.turn.text, answer.by) == ("w3x9z", "blue", f"telegram:{CHAT}")


@pytest.mark.parametrize(
    ("command", "reply", "act"),
    [
        ("/help", "/retry", None),
        ("/start", "I am here", None),
        ("/tasks", "fetch the page", None),
        ("/status", "Working", None),
        ("/pause", "Paused: fetch", ("pause", TASK, f"telegram:{CHAT}")),
        ("/resume", "Going on: fetch", ("resume", TASK, f"telegram:{CHAT}")),
        ("/stop 9P1S", "Stopping: fetch", ("stop", TASK)),
        ("/stop zzzzz", "no such task", None),
        ("/mode steer", "join", ("mode", str(CHAT), "steer")),
        ("/mode fly", "/mode queue", None),
        ("/approve", "/approve ID", None),
        ("/approve q7k2m", "Approved", None),
        ("/deny Q7K2M not now", "Denied", None),
        ("/approve nope", "No question", None),
        ("/stop@asos_test_bot", "Stopping", ("stop", TASK)),
        ("/undo", "/workspace/a.txt", ("undo", TASK, "None")),
        ("/undo 3", "/workspace/b.txt", ("undo", TASK, "3")),
        ("/undo 9P1S 3", "commands, messages and visits", ("undo", TASK, "3")),
        ("/undo zzzzz", "no such task", None),
    ],
)
async def test_commands_are_obeyed(house: House, command: str, reply: str, act: tuple[str, ...] | None) -> None:
    await house.show(status(approval=approval() if "approve" in command or "deny" in command else None))

    text = await house.says(command)

    assert reply in text
    if act is not None:
        assert act in house.desk.acts
    assert house.desk.submitted == []


async def test_a_member_cannot_touch_the_tasks_of_others_and_the_owner_can_stop_them(house: House) -> None:
    await house.pairing.add(Person("telegram", "78", "Bob", "member"))
    await house.show(status(), owner=CHAT)

    assert "no such task" in (await house.says(f"/stop {TASK}", 78))
    assert "no such task" in (await house.says(f"/status {TASK}", 78))
    assert "no such task" in (await house.says(f"/undo {TASK}", 78))
    assert house.desk.acts == []


async def test_a_retry_that_is_delivered_twice_has_one_request_id(house: House) -> None:
    await house.show(ended("x"))
    await house.requests.became("telegram", str(CHAT), "1", TASK)
    house.desk.add(ended("x"), f"telegram:{CHAT}")

    assert "step 2" in await house.says("/retry 2")

    retries = [act for act in house.desk.acts if act[0] == "retry"]
    assert retries[0][1:3] == (TASK, "2")
    assert len(retries[0][3]) == 36


async def test_other_slash_words_are_requests(house: House) -> None:
    await house.server.say(CHAT, "/run ls -la")

    await house.server.until(lambda: house.desk.submitted)

    assert house.desk.submitted[0].message.content.text == "/run ls -la"


async def test_a_queued_and_a_steered_message_are_acknowledged(house: House) -> None:
    house.desk.next = Accepted(disposition="queued", ahead=2)
    assert "2 before it" in await house.says("later")

    house.desk.next = Accepted(disposition="steered", task_id=TASK)
    assert "running task" in await house.says("also this")


async def test_a_refusal_is_told_without_the_words_of_the_engine(house: House) -> None:
    house.desk.refusal = Refused("QueueFull", "Traceback (most recent call last) 51 requests")

    text = await house.says("one more")

    assert "Too many requests" in text
    assert "Traceback" not in text


async def test_a_bug_in_handling_one_message_does_not_hold_back_the_next(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(house.desk, "next", None)
    assert "was not handled" in await house.says("poison")

    house.desk.next = Accepted(disposition="started", task_id=TASK)
    await house.server.say(CHAT, "fine")

    await house.server.until(lambda: [d for d in house.desk.submitted if d.message.content.text == "fine"])


async def test_in_a_group_only_what_is_meant_for_the_bot_is_heard(house: House) -> None:
    mention = [{"type": "mention", "offset": 0, "length": 14}]
    await house.server.say(-9, "hello all", user_id=CHAT)
    await house.server.say(-9, "@asos_test_bot do it", user_id=CHAT, entities=mention)
    await house.server.say(-9, "/stop@another_bot", user_id=CHAT)

    await house.server.until(lambda: house.desk.submitted)
    await house.server.until(lambda: not house.server.state.updates)

    assert [each.message.content.text for each in house.desk.submitted] == ["@asos_test_bot do it"]
    assert house.desk.submitted[0].message.channel.type == "group"


async def test_two_pollers_are_reported_and_do_not_fight_in_a_hurry(house: House) -> None:
    other = bot(house.server, long_poll_seconds=10)
    await house.server.until(lambda: house.telegram.liveness.connected)
    other.start(house.reception)

    await house.server.until(
        lambda: (
            "another program reads" in house.telegram.liveness.detail
            or "another program reads" in other.liveness.detail
        )
    )
    before = len(house.server.calls("getUpdates"))
    await asyncio.sleep(1.5)
    await other.stop()
    await other.close()

    assert len(house.server.calls("getUpdates")) - before < 8


async def test_the_menu_is_set_once_and_not_at_every_start(house: House, store: Store) -> None:
    await house.server.until(lambda: house.telegram.liveness.connected)
    assert len(house.server.calls("setMyCommands")) == 2
    await house.telegram.stop()

    again = bot(house.server)
    again.start(house.reception)
    await house.server.until(lambda: again.liveness.connected)
    await again.stop()
    await again.close()

    assert len(house.server.calls("setMyCommands")) == 2


async def test_a_wrong_token_is_named_and_not_shown(server: TelegramServer, store: Store, tmp_path: Path) -> None:
    telegram = Telegram("1:wrong", server.base_url, server.base_file_url)
    house = House(server, store, telegram, tmp_path)
    telegram.start(house.reception)

    await server.until(lambda: telegram.liveness.detail != "has not started")
    await telegram.stop()
    await telegram.close()

    assert "token" in telegram.liveness.detail
    assert "1:wrong" not in telegram.liveness.detail
    assert not telegram.liveness.connected


async def test_after_an_orderly_stop_nothing_comes_again(house: House, tmp_path: Path) -> None:
    await house.server.say(CHAT, "last")
    await house.server.until(lambda: house.desk.submitted)

    await house.telegram.stop()

    assert house.server.state.updates == []
