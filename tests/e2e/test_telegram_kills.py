"""The bot's person notices no kill: one final message each, and the same button still works."""

from collections.abc import Iterator

import pytest

from tests.e2e.inside import wait_for_file
from tests.e2e.paired import Paired, paired
from tests.e2e.telegram_cloud import Talk

pytestmark = pytest.mark.timeout(300)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Paired]:
    with paired(tmp_path_factory.mktemp("telegram")) as given:
        yield given


@pytest.fixture
def talk(home: Paired) -> Talk:
    return home.talk()


def test_a_gateway_killed_while_a_task_runs_ends_the_same_message(home: Paired, talk: Talk) -> None:
    talk.say("/run touch /workspace/begun; sleep 6; echo survived-$((3 * 3))")
    talk.hears("▸")
    wait_for_file(home.asos, "begun")

    killed = home.asos.kill("gateway")
    home.asos.wait_for_another("gateway", killed)

    talk.hears("survived-9", final=True)
    assert len(talk.heard()) == 1, talk.texts()


def test_a_gateway_killed_between_a_send_and_its_record_gives_one_final_message(home: Paired, talk: Talk) -> None:
    home.cloud.fault("sendMessage", "hang", contains="⏳")
    talk.say("/run echo between-$((4 * 4))")
    talk.hears("⏳")

    killed = home.asos.kill("gateway")
    home.asos.wait_for_another("gateway", killed)

    talk.hears("between-16", final=True)
    assert len(talk.saying("between-16")) == 1, talk.texts()


def test_an_answer_that_gets_lost_on_its_way_back_gives_one_final_message(home: Paired, talk: Talk) -> None:
    home.cloud.fault("sendMessage", "drop", contains="⏳")

    talk.say("/run echo dropped-$((5 * 5))")

    talk.hears("dropped-25", final=True)
    assert len(talk.saying("dropped-25")) == 1, talk.texts()


def test_a_worker_killed_while_it_waits_for_a_yes_takes_the_same_button(home: Paired, talk: Talk) -> None:
    talk.say("/run python3 -c 'print(7 * 7)'")
    card = talk.hears("May I do this?")

    killed = home.asos.kill("worker")
    home.asos.wait_for_another("worker", killed)
    home.cloud.press(card, "Approve")

    final = talk.hears("49", final=True)
    assert final["message_id"] == card["message_id"]
    assert len(talk.heard()) == 1, talk.texts()
