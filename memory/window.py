"""Which turns a model is given: the recent ones in full, the older ones as a summary that keeps what binds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from contracts.quoting import own_words, quoted, quoting
from contracts.tools import ToolResult
from contracts.transcript import PlannerTurn, ToolTurn, Turn, UserTurn
from memory.summary import Summary, summary_of
from memory.tokens import clip, tokens_of

SUMMARY_SHARE = 0.4
"""The most of the budget that the summary of older turns takes."""

TEXT_SHARE = 0.3
"""The most of the budget that one text takes; the texts of one block together take at most twice that."""

TURN_OVERHEAD = 12
"""Tokens for role, ids and punctuation of a turn."""


@dataclass(frozen=True)
class Window:
    """What is shown of a task."""

    summary: Summary | None
    turns: tuple[Turn, ...]
    """Texts that were too long are clipped."""
    texts: Mapping[str, str]
    """Result text by call id, as far as it is shown."""
    trusted: frozenset[str] = frozenset()
    """Ids of the calls whose results nobody else can have written."""


def window(turns: Sequence[Turn], results: Mapping[str, ToolResult], budget_tokens: int) -> Window:
    """Fill the budget from the newest turn backwards. A call and its results stay together; the newest always shows."""
    blocks = _blocks(turns)
    left = int(budget_tokens * (1 - SUMMARY_SHARE))
    shown: list[Turn] = []
    texts: dict[str, str] = {}
    while blocks:
        block, block_texts = _fitted(blocks[-1], results, budget_tokens)
        left -= _cost(block, block_texts)
        if left < 0 and shown:
            break
        shown[:0] = block
        texts |= block_texts
        blocks.pop()
    older = tuple(turn for block in blocks for turn in block)
    return Window(
        summary=summary_of(older, int(budget_tokens * SUMMARY_SHARE)) if older else None,
        turns=tuple(shown),
        texts=texts,
        trusted=frozenset(call_id for call_id in texts if results[call_id].provenance.trusted),
    )


def _blocks(turns: Sequence[Turn]) -> list[list[Turn]]:
    """A planner's calls and their results belong together: providers refuse one without the other."""
    blocks: list[list[Turn]] = []
    for turn in turns:
        if isinstance(turn, ToolTurn) and blocks:
            blocks[-1].append(turn)
        else:
            blocks.append([turn])
    return blocks


def _fitted(
    block: Sequence[Turn], results: Mapping[str, ToolResult], budget_tokens: int
) -> tuple[list[Turn], dict[str, str]]:
    """The block with each long text clipped, and the result texts that go with it."""
    share = int(budget_tokens * TEXT_SHARE)
    found = [turn.call_id for turn in block if isinstance(turn, ToolTurn) and turn.call_id in results]
    each = min(share, 2 * share // max(1, len(found)))
    texts = {call_id: clip(results[call_id].text, each) for call_id in found}
    fitted = [turn if isinstance(turn, ToolTurn) else _clipped(turn, share) for turn in block]
    return fitted, texts


def _clipped(turn: Turn, max_tokens: int) -> Turn:
    if isinstance(turn, ToolTurn) or tokens_of(turn.text) <= max_tokens:
        return turn
    text = clipped_words(turn.text, max_tokens) if isinstance(turn, UserTurn) else clip(turn.text, max_tokens)
    return turn.model_copy(update={"text": text})


def clipped_words(text: str, max_tokens: int) -> str:
    """A person's message cut short, of which every line stays with whoever wrote it."""
    own, others = clip(own_words(text), max_tokens), quoted(text)
    return f"{own}\n{quoting(clip(others, max_tokens))}".strip() if others.strip() else own


def _cost(block: Sequence[Turn], texts: Mapping[str, str]) -> int:
    return sum(map(_turn_cost, block)) + sum(map(tokens_of, texts.values()))


def _turn_cost(turn: Turn) -> int:
    if isinstance(turn, ToolTurn):
        return TURN_OVERHEAD + tokens_of(turn.headline)
    if isinstance(turn, PlannerTurn):
        calls = sum(TURN_OVERHEAD + tokens_of(str(call.args)) for call in turn.calls)
        return TURN_OVERHEAD + tokens_of(turn.text) + calls
    return TURN_OVERHEAD + tokens_of(turn.text)
