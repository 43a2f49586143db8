"""What remains of older turns: the person's own words, what was ruled, and what was tried. Needs no model."""

from collections.abc import Sequence
from dataclasses import dataclass

from contracts.quoting import own_words, quoted
from contracts.transcript import NoteTurn, PlannerTurn, ToolTurn, Turn, UserTurn
from memory.tokens import clip, tokens_of

LEAST_SHARE = 24
"""Tokens below which a text is better left out than clipped."""

LINE_OVERHEAD = 12


@dataclass(frozen=True)
class Done:
    """One earlier call: what was tried, and how it came out. The headline may hold untrusted text."""

    summary: str
    tool: str
    ok: bool
    headline: str


@dataclass(frozen=True)
class Summary:
    """The structured rest of older turns, each list oldest first."""

    said: tuple[str, ...]
    """The person's own words; the first is the goal, and is always kept."""
    decided: tuple[str, ...]
    """What the system ruled, such as denials and restored sandboxes."""
    done: tuple[Done, ...]
    forgotten: int = 0
    """How many calls before these are not listed any more."""
    passed_on: tuple[str, ...] = ()
    """What the person quoted or passed on: the words of others."""


def summary_of(older: Sequence[Turn], budget_tokens: int) -> Summary:
    """Half of the budget goes to the person's words, a quarter each to rulings and to what was done."""
    texts = [turn.text for turn in older if isinstance(turn, UserTurn)]
    said = [words for text in texts if (words := own_words(text).strip())]
    others = [words for text in texts if (words := quoted(text).strip())]
    decided = [turn.text for turn in older if isinstance(turn, NoteTurn)]
    done = _done(older)
    kept = _newest(done, budget_tokens // 4)
    return Summary(
        said=_fit(said, budget_tokens // 2, keep_first=True),
        decided=_fit(decided, budget_tokens // 4),
        done=kept,
        forgotten=len(done) - len(kept),
        passed_on=_fit(others, budget_tokens // 8),
    )


def _done(older: Sequence[Turn]) -> list[Done]:
    summaries = {call.call_id: call.summary for turn in older if isinstance(turn, PlannerTurn) for call in turn.calls}
    return [
        Done(summaries.get(turn.call_id, turn.tool), turn.tool, turn.ok, turn.headline)
        for turn in older
        if isinstance(turn, ToolTurn)
    ]


def _fit(texts: Sequence[str], budget_tokens: int, *, keep_first: bool = False) -> tuple[str, ...]:
    """Every text, cut to its share if need be; of very many the newest, and the first if it binds."""
    most = max(2, budget_tokens // LEAST_SHARE)
    if len(texts) > most:
        newest = list(texts[len(texts) - most :])
        texts = [texts[0], *newest[1:]] if keep_first else newest
    if sum(map(tokens_of, texts)) <= budget_tokens:
        return tuple(texts)
    share = max(LEAST_SHARE, budget_tokens // len(texts))
    return tuple(clip(text, share) for text in texts)


def _newest(done: Sequence[Done], budget_tokens: int) -> tuple[Done, ...]:
    kept: list[Done] = []
    for item in reversed(done):
        budget_tokens -= LINE_OVERHEAD + tokens_of(item.summary) + tokens_of(item.headline)
        if budget_tokens < 0:
            break
        kept.append(item)
    return tuple(reversed(kept))
