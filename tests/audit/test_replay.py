"""The page that plays a recording: all there is, in order, and whatever a task has met is only text in it."""

import re
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser

import pytest

from audit.replay.page import content_policy, page
from audit.replay.recorded import Given, Line, Picture, Recording
from audit.replay.steps import Step, commands, entries
from contracts.language import Language
from contracts.provenance import Provenance
from contracts.tools import ToolResult
from contracts.values import JsonObject

BEGAN = datetime(2026, 5, 1, 12, tzinfo=UTC)
HOSTILE = "</pre><script>alert(1)</script><img src=x onerror=alert(2)>\"'&\x1b[2J\u202eevil"


def line(number: int, kind: str, call_id: str | None, data: JsonObject, words: JsonObject | None = None) -> Line:
    at = BEGAN + timedelta(seconds=number)
    return Line(number + 1, at, kind, "telegram:7", call_id, data, words if words is not None else {}, "p" * 64)


def recording(text: str, *, sealed: bool = False) -> Recording:
    """A command that was asked about, approved and run, after which a picture was kept."""
    question: JsonObject = {"args": {"script": text}, "actions": [{"kind": "command", "script": text, "argv": None}]}
    words: JsonObject = {
        "summary": text,
        "reasons": [{"rule": "command.blocked", "detail": text}, {"rule": "no.such.rule", "detail": ""}],
        "risk_parts": [{"name": "effect", "points": 30, "detail": text}],
        "destinations": [text],
        "question": question,
    }
    said: JsonObject = {"verdict": "ask", "tool": "shell", "risk": 74, "rules": ["r1"], "effects": ["egress"]}
    verdict = line(0, "verdict", "c1", said, words)
    if sealed:
        verdict = Line(1, BEGAN, "verdict", "telegram:7", "c1", said, None)
    lines = (
        verdict,
        line(1, "approval.decided", "c1", {"approve": True}, {"note": text}),
        line(2, "effect.begun", "c1", {"tool": "shell", "risk": 74}),
        line(3, "egress", None, {"host": text, "port": 80, "method": "GET", "allowed": False, "reason": "blocked"}),
        line(4, "effect.ended", "c1", {"ok": True, "seconds": 0.5}),
        line(5, "kind.of.later", None, {"what": text}),
    )
    result = ToolResult(
        call_id="c1",
        tool="shell",
        ok=True,
        headline=text[:200],
        text="",
        data={"stdout": text, "stderr": ""},
        provenance=Provenance(trusted=False),
    )
    given = Given(result, (Picture("shot.png", "image/png", b"\x89PNG"),), left_out=1)
    return Recording("01TASK", text, lines, {"c1": given})


class Seen(HTMLParser):
    """Every element of a page with its attributes."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.parametrize("language", ["en", "zh"])
def test_nothing_that_a_task_met_becomes_part_of_the_page(language: Language) -> None:
    plain, hostile = Seen(page(recording("ls"), language)), Seen(page(recording(HOSTILE), language))

    names = [tag for tag, _ in plain.elements]
    assert [tag for tag, _ in hostile.elements] == names
    assert [set(attributes) for _, attributes in hostile.elements] == [set(given) for _, given in plain.elements]
    assert not [name for _, given in hostile.elements for name in given if name.startswith("on")]
    assert "alert(1)" in hostile.text, "it is shown as what it is"
    assert "\x1b" not in hostile.text + page(recording(HOSTILE), language)
    assert "\u202e" not in page(recording(HOSTILE), language)


def test_the_page_loads_nothing_and_runs_our_script_alone() -> None:
    html = page(recording("ls"), "en")

    assert re.findall(r'(?:src|href)="(?!data:image/png;base64,)', html) == []
    policy = content_policy()
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    assert html.count("<script") == 1
    assert html.index("Content-Security-Policy") < html.index("<style")


def test_a_step_shows_question_verdict_approval_effect_result_and_risk() -> None:
    text = Seen(page(recording("cat notes"), "en")).text

    for wanted in ("shell", "asked", "risk 74/100", "the person decided", "approve: yes", "began", "ended", "egress"):
        assert wanted in text
    assert "Your policy blocks commands like this: cat notes." in text
    assert "effect 30" in text
    assert "1 screenshots are left out" in text


def test_commands_and_output_play_in_their_order() -> None:
    html = page(recording("cat notes"), "en")

    assert '<div class="run" data-from="2"><pre class="typed">cat notes</pre><pre data-from="4">cat notes' in html
    assert '<figure data-at="4">' in html
    assert html.count("<li data-at=") == 6


def test_without_the_keyring_the_words_stay_sealed_and_the_facts_are_there() -> None:
    text = Seen(page(recording("secret words", sealed=True), "en")).text

    assert "sealed" in text
    assert "asked" in text


def test_one_argv_is_shown_quoted() -> None:
    found = recording("x")
    verdict = found.lines[0]
    assert verdict.words is not None
    action: JsonObject = {"kind": "command", "argv": ["echo", "a b", "$HOME"], "script": None}
    words = verdict.words | {"question": {"actions": [action]}}
    steps = entries(Recording("t", "", (line(0, "verdict", "c1", verdict.data, words),)))

    assert isinstance(steps[0], Step)
    assert list(commands(steps[0])) == ["echo 'a b' '$HOME'"]


def test_a_task_of_which_nothing_is_recorded_has_a_page_that_says_so() -> None:
    assert "no records" in Seen(page(Recording("t", "", ()), "en")).text
