"""What a model is shown of a long task: the newest in full, and of the rest what binds."""

from datetime import UTC, datetime

import pytest

from contracts.provenance import Provenance
from contracts.tools import ToolCall, ToolResult, args_digest
from contracts.transcript import NoteTurn, PlannerTurn, ToolTurn, Turn, UserTurn
from memory.tokens import clip, tokens_of
from memory.window import Window, window

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
RULE = "Never write outside of /workspace/out, and keep it under 10 euros."


def said(text: str) -> UserTurn:
    return UserTurn(text=text, at=NOON)


def step(number: int, text: str) -> tuple[list[Turn], ToolResult]:
    call_id = f"{number}.0-aaaaaa"
    args = {"script": f"step {number}"}
    call = ToolCall(
        call_id=call_id,
        tool="shell",
        args={**args},
        args_sha256=args_digest("shell", {**args}),
        summary=f"runs {number}",
    )
    result = ToolResult(
        call_id=call_id,
        tool="shell",
        ok=True,
        headline=f"ran {number}",
        text=text,
        provenance=Provenance(trusted=False),
    )
    turn = ToolTurn(call_id=call_id, tool="shell", ok=True, headline=f"ran {number}")
    return [PlannerTurn(step=number, calls=(call,)), turn], result


def long_task(steps: int, text: str) -> tuple[list[Turn], dict[str, ToolResult]]:
    turns: list[Turn] = [said(f"Build the house. {RULE}")]
    results: dict[str, ToolResult] = {}
    for number in range(steps):
        added, result = step(number, text)
        turns += added
        results[result.call_id] = result
        if number == 3:
            turns.append(NoteTurn(code="denied", text="Deleting the garden was denied."))
    return turns, results


def cost(shown: Window) -> int:
    summary = shown.summary
    words = [] if summary is None else [*summary.said, *summary.decided, *(done.headline for done in summary.done)]
    turns = [turn.text for turn in shown.turns if not isinstance(turn, ToolTurn)]
    return sum(map(tokens_of, [*words, *turns, *shown.texts.values()]))


def test_a_short_task_is_shown_whole() -> None:
    turns, results = long_task(2, "fine")

    shown = window(turns, results, 8_000)

    assert shown.summary is None
    assert shown.turns == tuple(turns)
    assert set(shown.texts.values()) == {"fine"}


@pytest.mark.parametrize("text", ["word " * 400, "字" * 900])
def test_a_long_task_stays_within_the_budget_and_keeps_the_goal_the_rules_and_the_denials(text: str) -> None:
    turns, results = long_task(200, text)

    shown = window(turns, results, 8_000)

    assert cost(shown) <= 8_000
    assert shown.summary is not None
    assert RULE in shown.summary.said[0]
    assert shown.summary.decided == ("Deleting the garden was denied.",)
    assert shown.summary.forgotten > 0
    assert shown.summary.done[-1].summary.startswith("runs ")
    assert window(turns, results, 8_000) == shown


def test_a_call_and_its_result_are_never_parted() -> None:
    turns, results = long_task(60, "word " * 300)

    shown = window(turns, results, 5_000)

    calls = {call.call_id for turn in shown.turns if isinstance(turn, PlannerTurn) for call in turn.calls}
    assert calls == {turn.call_id for turn in shown.turns if isinstance(turn, ToolTurn)} == set(shown.texts)


def test_the_newest_turn_is_shown_even_if_it_alone_is_too_long() -> None:
    shown = window([said("x" * 200_000)], {}, 2_000)

    (turn,) = shown.turns
    assert isinstance(turn, UserTurn)
    assert tokens_of(turn.text) < 2_000
    assert "characters left out" in turn.text


def test_many_long_words_of_the_person_keep_the_first_and_the_newest() -> None:
    turns: list[Turn] = [said(f"Wish {number}: {'please ' * 200}") for number in range(300)]

    shown = window(turns, {}, 3_000)

    assert shown.summary is not None
    assert shown.summary.said[0].startswith("Wish 0:")
    assert shown.turns[-1] == turns[-1]


@pytest.mark.parametrize("text", ["", "short", "字" * 500, "word " * 500])
def test_clipping_keeps_both_ends_within_the_limit(text: str) -> None:
    clipped = clip(text, 100)

    assert tokens_of(clipped) <= 130
    assert clipped[:5] == text[:5]
    assert clipped[-3:] == text[-3:]
