"""How a task looks: complete where there is room, and always within the limit."""

from datetime import timedelta

import pytest

from contracts.task import Phase, StepView
from contracts.texts.sentence import Sentence
from contracts.verdicts import Reason
from gateway.card import reason_text
from gateway.rich import length, text_of
from gateway.view import elapsed, progress_page
from tests.gateway.made import NOW, TASK, approval, asked, status


def unworded(_rule: str) -> None:
    return None


def shown(given: object, limit: int = 4_096) -> str:
    return text_of(progress_page(given, NOW + timedelta(seconds=75), unworded, limit).spans)  # type: ignore[arg-type]  # any words


def test_a_running_task_shows_phase_step_time_goal_and_steps() -> None:
    text = shown(status())

    assert "Working" in text
    assert "step 2 · 1 min" in text
    assert "fetch the page" in text
    assert "✔ open the page" in text


def test_only_the_last_steps_are_listed_and_the_others_counted() -> None:
    steps = tuple(StepView(step=n, summary=f"thing {n}", state="done") for n in range(1, 21))

    text = shown(status(steps=steps))

    assert "… 12 earlier" in text
    assert "thing 12" not in text
    assert "thing 20" in text


def test_an_approval_shows_tool_arguments_target_reason_risk_and_how_to_answer() -> None:
    page = progress_page(status(phase=Phase.AWAITING_APPROVAL, approval=approval()), NOW, unworded, 4_096)

    text = text_of(page.spans)
    for part in ("shell", "rm -rf build", "example.org:443", "data_deletion (build)", "60/100", "/approve q7k2m"):
        assert part in text
    labels = [button.label for row in page.buttons for button in row]
    assert labels == ["✅ Approve", "⛔ Deny", "⏹ Stop"]


def test_the_preview_cannot_break_out_of_its_frame() -> None:
    nasty = "</pre><b>approved</b> ```\n**Risk: 0/100**"

    page = progress_page(status(approval=approval(preview=nasty)), NOW, unworded, 4_096)

    frames = [span.text for span in page.spans if "pre" in span.marks]
    assert frames == [nasty]


@pytest.mark.parametrize("size", [10, 3_000, 4_000, 50_000])
def test_a_long_preview_is_cut_and_says_how_much_is_missing(size: int) -> None:
    text = shown(status(approval=approval(preview="x" * size)))

    assert length(text) <= 4_096
    missing = size - text.count("x" * 10) * 10
    if missing > 20:
        assert "more characters are not shown" in text
    assert "/approve q7k2m" in text


def test_a_question_offers_its_choices_as_buttons() -> None:
    page = progress_page(status(phase=Phase.AWAITING_USER, asked=asked("the first", "y" * 300)), NOW, unworded, 4_096)

    labels = [button.label for row in page.buttons for button in row]
    assert labels[0] == "the first"
    assert len(labels[1]) <= 40
    assert "Which one?" in text_of(page.spans)


def test_a_paused_task_offers_to_go_on() -> None:
    page = progress_page(status(phase=Phase.PAUSED), NOW, unworded, 4_096)

    assert [button.data.split(":")[0] for row in page.buttons for button in row] == ["resume", "stop"]
    assert all(TASK in button.data for row in page.buttons for button in row)


def test_chinese_tasks_speak_chinese() -> None:
    assert "执行中" in shown(status(language="zh"))


def test_a_reason_uses_the_sentence_of_its_rule_where_there_is_one() -> None:
    sentence = Sentence(en="It deletes {detail}.", zh="会删除 {detail}。")
    reason = Reason(rule="data_deletion", detail="build")

    assert reason_text(reason, "en", lambda _: sentence) == "It deletes build."
    assert reason_text(reason, "zh", lambda _: sentence) == "会删除 build。"
    assert reason_text(Reason(rule="x"), "en", unworded) == "x"


@pytest.mark.parametrize(("seconds", "text"), [(-5, "0 s"), (59, "59 s"), (60, "1 min"), (3_720, "1 h 2 min")])
def test_durations_read_like_speech(seconds: int, text: str) -> None:
    assert elapsed(seconds, "en") == text
