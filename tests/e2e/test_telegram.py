"""A person and their bot: pairing, one message edited in place, buttons and commands, files and long answers."""

import re
from collections.abc import Iterator

import pytest

from tests.e2e.inside import containers_of
from tests.e2e.paired import STRANGER, Paired, paired
from tests.e2e.stack import eventually
from tests.e2e.telegram_cloud import Talk

pytestmark = pytest.mark.timeout(300)

RISKY = "/run python3 -c 'print(6 * 7)' # {mark}"
"""Code that policy cannot read: it asks."""

STOP_SECONDS = 5.0
"""A second on a quiet machine; tests share theirs."""

SEND = """/plan
steps:
  - id: write
    tool: files
    args: {operation: write, path: report.md, content: "the tower leans"}
  - id: send
    tool: files
    args: {operation: send, path: report.md}
    after: [write]
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Paired]:
    with paired(tmp_path_factory.mktemp("telegram")) as given:
        yield given


@pytest.fixture
def talk(home: Paired) -> Talk:
    return home.talk()


def test_the_code_that_up_shows_pairs_one_person_and_is_used_up(home: Paired) -> None:
    assert home.code in home.shown_by_up
    assert eventually(lambda: True if not home.asos.asos("status", "--json").json["pairing_code"] else None)

    second = Talk(home.cloud, STRANGER + 1)
    second.say(home.code)

    second.hears("not valid")


def test_a_stranger_gets_one_neutral_reply_and_starts_nothing(home: Paired) -> None:
    stranger = Talk(home.cloud, STRANGER)

    for text in ("hello", "/run echo stranger", "/tasks"):
        stranger.say(text)
    stranger.hears("private assistant")
    _settle(home)

    assert len(stranger.heard()) == 1
    assert "stranger" not in home.asos.asos("tasks").out


def test_a_message_becomes_one_message_that_is_edited_to_the_answer(home: Paired, talk: Talk) -> None:
    talk.say("/run sleep 2; echo one-$((1 + 1))-three")

    final = talk.hears("one-2-three", final=True)

    assert len(talk.heard()) == 1
    edits = [call for call in home.cloud.calls("editMessageText") if call["values"]["message_id"] == _id(final)]
    assert len(edits) > 1, "its progress was not shown"


def test_an_update_that_is_delivered_five_times_starts_one_task(home: Paired, talk: Talk) -> None:
    update = talk.say("/run echo delivered-$((2 + 3))-times")
    for _ in range(4):
        home.cloud.again(update)

    talk.hears("delivered-5-times", final=True)
    home.cloud.again(update)
    _settle(home)

    assert len(talk.heard()) == 2, "one for the task, one for /help"
    listed = [task for task in home.asos.asos("tasks", "--json").json if "delivered-" in task["goal"]]
    assert len(listed) == 1


def test_a_yes_by_button_lets_the_step_happen(home: Paired, talk: Talk) -> None:
    talk.say(RISKY.format(mark="button"))
    card = talk.hears("May I do this?")

    home.cloud.press(card, "Approve")

    assert _id(talk.hears("42", final=True)) == _id(card)


def test_a_no_by_command_leaves_it_undone_and_the_answer_says_so(home: Paired, talk: Talk) -> None:
    talk.say(RISKY.format(mark="command"))
    short = re.search(r"/deny (\w+)", talk.hears("May I do this?")["text"])
    assert short

    talk.say(f"/deny {short[1]}")

    talk.hears("Denied.")
    assert "42" not in talk.hears("Failed", final=True)["text"]


def test_a_stop_is_acknowledged_at_once_and_ends_everything(home: Paired, talk: Talk) -> None:
    talk.say("/run sleep 300")
    talk.hears("▸")

    talk.say("/stop")
    talk.until(lambda: talk.saying("Stopping") or None, STOP_SECONDS)

    talk.hears("⏹ Stopped", final=True)
    assert home.asos.status()["phase"] == "cancelled"
    assert not containers_of(home.asos)


def test_tasks_lists_what_ran(talk: Talk) -> None:
    talk.say("/run echo to-be-listed")
    talk.hears("to-be-listed", final=True)

    talk.say("/tasks")

    talk.until(lambda: [each for each in talk.saying("to-be-listed") if "✅" in each["text"]] or None)


def test_retry_goes_on_again_from_before_the_failed_step(talk: Talk) -> None:
    talk.say("/run echo tried; exit 7")
    talk.hears("Failed", final=True)

    talk.say("/retry")

    talk.hears("Going on again")
    talk.until(lambda: True if len(talk.saying("❌ Failed", final=True)) == 2 else None)


def test_a_file_that_the_task_sends_arrives_as_a_document(home: Paired, talk: Talk) -> None:
    talk.say(SEND)

    document = talk.until(lambda: next((each["document"] for each in talk.heard() if "document" in each), None))

    assert document["file_name"] == "report.md"
    assert home.cloud.file(document["file_id"]) == b"the tower leans"


def test_a_long_answer_arrives_whole_in_a_few_messages(talk: Talk) -> None:
    talk.say("/run seq 1001 2500")

    talk.hears("2500", final=True)

    numbers = [int(number) for text in talk.texts() for number in re.findall(r"^\d{4}$", text, re.MULTILINE)]
    assert numbers == list(range(1001, 2501))


def test_a_very_long_answer_arrives_whole_as_a_file(home: Paired, talk: Talk) -> None:
    talk.say("/run seq 10001 14000")

    document = talk.until(lambda: next((each["document"] for each in talk.heard() if "document" in each), None))

    content = home.cloud.file(document["file_id"]).decode()
    assert [int(number) for number in re.findall(r"^\d{5}$", content, re.MULTILINE)] == list(range(10001, 14001))


def test_a_message_that_comes_while_a_task_runs_waits_and_is_handled_once(home: Paired, talk: Talk) -> None:
    talk.say("/run sleep 4; echo the-first-is-$((5 + 5))")
    talk.hears("▸")

    talk.say("/run echo the-second-is-$((6 + 6))")

    talk.hears("1 before it")
    second = talk.hears("the-second-is-12", final=True)
    first = talk.hears("the-first-is-10", final=True)
    assert second["message_id"] > first["message_id"]
    assert len(talk.heard()) == 3, talk.texts()


def _settle(home: Paired) -> None:
    """Let everything that was said before be dealt with."""
    talk = home.talk()
    talk.say("/help")
    talk.until(lambda: talk.heard() or None)


def _id(message: dict[str, object]) -> str:
    return str(message["message_id"])
