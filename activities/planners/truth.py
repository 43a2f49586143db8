"""Hold a model's answer against what its tools did: how the task ended, and claims that no result bears out."""

import re
from collections.abc import Mapping, Sequence
from typing import Literal

from activities.planner import DraftReply
from contracts.language import Language
from contracts.texts import planner as texts
from contracts.texts.sentence import Sentence
from contracts.tools import ToolCall, ToolResult
from contracts.transcript import PlannerTurn, ToolTurn, Turn

_SENT = "sent|e-?mailed|mailed"
_WRITTEN = "saved|written|wrote|stored"
_CLAIM = (
    r"\b(?:I|I've|I’ve|I have|we|we've)\s+(?:(?:also|now|just|successfully|already)\s+)*(?:{verbs})\b"
    r"|\b(?:file|report|summary|message|e-?mail|it|that|everything)\s+(?:has been|have been|was|is|are)\s+"
    r"(?:(?:also|now|successfully)\s+)*(?:{verbs})\b"
    r"|^\W*(?:done\W+)?(?:{verbs})\b"
)
_CLAIMS: tuple[tuple[re.Pattern[str], frozenset[str], Sentence], ...] = (
    (
        re.compile(
            _CLAIM.format(verbs=_SENT) + r"|已经?(?:成功)?(?:将|把)?[^，。！\n]{0,40}?(?:发送|发给|发到)", re.I | re.M
        ),
        frozenset({"send"}),
        texts.CLAIM_SENT,
    ),
    (
        re.compile(
            _CLAIM.format(verbs=_WRITTEN) + r"|已经?(?:成功)?(?:将|把)?[^，。！\n]{0,40}?(?:保存|写入|写到|存到)",
            re.I | re.M,
        ),
        frozenset({"write", "shell", "remember"}),
        texts.CLAIM_WRITTEN,
    ),
    (
        re.compile(_CLAIM.format(verbs="remembered|noted") + r"|已经?记住", re.I | re.M),
        frozenset({"remember", "write"}),
        texts.CLAIM_REMEMBERED,
    ),
)


def verified(text: str, turns: Sequence[Turn], results: Mapping[str, ToolResult], language: Language) -> DraftReply:
    """The answer with its true outcome, and a plain remark on each claim without proof."""
    proofs = _proofs(turns, results)
    unproven = [claim for pattern, proof, claim in _CLAIMS if pattern.search(text) and not proof & proofs]
    outcome = _outcome(turns)
    if not unproven:
        return DraftReply(text, outcome)
    remarks = [texts.UNVERIFIED.say(language, claim=claim.say(language)) for claim in unproven]
    return DraftReply("\n\n".join([text, *remarks]), "partly_failed" if outcome == "done" else outcome)


def _outcome(turns: Sequence[Turn]) -> Literal["done", "partly_failed", "failed"]:
    """A failure counts until the same kind of call has succeeded after it."""
    last: dict[str, bool] = {}
    for kind, turn in _kinds(turns):
        last[kind] = turn.ok
    if all(last.values()):
        return "done"
    return "partly_failed" if any(turn.ok for _, turn in _kinds(turns)) else "failed"


def _proofs(turns: Sequence[Turn], results: Mapping[str, ToolResult]) -> frozenset[str]:
    """Kinds of calls that succeeded; whatever sent a file proves that something was sent."""
    kinds = {kind for kind, turn in _kinds(turns) if turn.ok}
    sends = {"send" for _, turn in _kinds(turns) if turn.ok and turn.call_id in results and results[turn.call_id].send}
    return frozenset(kinds | sends)


def _kinds(turns: Sequence[Turn]) -> list[tuple[str, ToolTurn]]:
    calls = {call.call_id: call for turn in turns if isinstance(turn, PlannerTurn) for call in turn.calls}
    return [(_kind(turn, calls.get(turn.call_id)), turn) for turn in turns if isinstance(turn, ToolTurn)]


def _kind(turn: ToolTurn, call: ToolCall | None) -> str:
    """The tool, or what it does to a file."""
    operation = (call.args or {}).get("operation") if call is not None else None
    return operation if turn.tool == "files" and isinstance(operation, str) else turn.tool
