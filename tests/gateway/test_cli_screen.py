"""How a task looks in a terminal and in a pipe."""

import io
import re
from datetime import UTC, datetime

import pytest
from rich.cells import cell_len
from rich.console import Console

from contracts.task import Phase, StepView
from gateway.cli.screen import Screen, tasks_table
from gateway.desk import TaskSummary
from tests.gateway.made import TASK, approval, status

LONG = "curl --silent --show-error --fail --data-binary @report.md http://lighthouse.demo.test/guestbook " * 3


def console(*, terminal: bool, width: int = 80) -> Console:
    return Console(
        file=io.StringIO(), force_terminal=terminal, no_color=True, width=width, soft_wrap=True, highlight=False
    )


def printed(given: Console) -> str:
    """What a person sees: the text without its colours."""
    file = given.file
    assert isinstance(file, io.StringIO)
    return re.sub(r"\x1b\[[0-9;]*m", "", file.getvalue())


@pytest.mark.parametrize("width", [40, 80, 200])
def test_a_long_step_is_one_line_of_the_terminal(width: int) -> None:
    given = console(terminal=True, width=width)

    Screen(given, "en").update(status(steps=(StepView(step=1, summary=LONG, state="done"),)))

    (line,) = printed(given).splitlines()
    assert cell_len(line) <= width
    assert "✔ 1. curl" in line


def test_each_step_is_told_once_when_it_has_ended_and_before_the_phase_that_follows() -> None:
    given = console(terminal=False)
    screen = Screen(given, "en")
    begun = StepView(step=1, summary="open the page", state="running")
    ended = begun.model_copy(update={"state": "done"})
    waiting = StepView(step=2, summary="delete it", state="waiting")

    for _ in range(3):
        screen.update(status(steps=(begun,)))
        screen.update(status(phase=Phase.AWAITING_APPROVAL, steps=(ended, waiting)))

    assert printed(given).splitlines()[:2] == ["  ✔ 1. open the page", "  Waiting for your yes or no"]
    assert printed(given).count("open the page") == 1
    assert "delete it" not in printed(given)


@pytest.mark.parametrize("width", [40, 80, 200])
def test_a_question_fits_its_frame_and_shows_everything_once(width: int) -> None:
    given = console(terminal=True, width=width)

    Screen(given, "en").approval(approval(preview=f"script: {LONG.strip()}"))

    lines = printed(given).splitlines()
    assert max(map(cell_len, lines)) <= min(width, 100)
    assert sum(line.count("@report.md") for line in lines) == 3


def test_words_that_look_like_markup_are_shown_and_steer_nothing() -> None:
    given = console(terminal=True)

    Screen(given, "en").approval(approval(preview="script: echo [bold red]x[/bold red] [/]"))

    assert "echo [bold red]x[/bold red] [/]" in printed(given)


def test_in_a_pipe_an_answer_is_plain_text_without_fences() -> None:
    given = console(terminal=False)

    Screen(given, "en").answer("```text\na\n  b\n```\n\nExit code 0")

    assert printed(given) == "\na\n  b\n\nExit code 0\n"


def test_on_a_terminal_lines_stay_lines_and_code_stays_code() -> None:
    given = console(terminal=True)

    Screen(given, "en").answer("one\ntwo\n\n```\n# no heading\n* no list\n```\n\n中文\n第二行")

    lines = [line.strip() for line in printed(given).splitlines() if line.strip()]
    assert lines == ["one", "two", "# no heading", "* no list", "中文", "第二行"]


@pytest.mark.parametrize("width", [90, 140])
def test_a_list_of_tasks_never_cuts_an_id(width: int) -> None:
    given = console(terminal=True, width=width)
    summary = TaskSummary(
        task_id=TASK,
        run_id="r",
        open=True,
        goal=f"/plan\nname: {LONG}",
        phase=Phase.AWAITING_APPROVAL,
        channel="console",
        user_id="console:me",
        started_at=datetime(2026, 1, 2, 3, 4, tzinfo=UTC),
    )

    given.print(tasks_table([summary], "en"), soft_wrap=False)

    assert len(printed(given).splitlines()) == 2
    assert TASK in printed(given)
