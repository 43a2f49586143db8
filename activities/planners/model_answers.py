"""What a model answered, as a draft: its calls, its question, or its words. Broken calls are kept, to be judged."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from activities.planner import DraftCall, DraftCalls, DraftQuestion, PlannerBusy
from activities.planners.drafts import problem_of
from contracts.language import Language
from contracts.texts import planner as texts
from contracts.tools import ToolSpec
from contracts.values import JsonObject

ASK = "ask_user"
MAX_CALLS = 16
UNREADABLE = "unreadable_arguments"
"""Holds arguments that are no JSON object. No schema knows the name, so the call is refused and the model sees why."""

RAW_CHARACTERS = 2_000

_TAGGED = re.compile(r"<tool_call>\s*(.*?)\s*(?:</tool_call>|\Z)", re.DOTALL)
_FENCED = re.compile(r"\s*```(?:json|tool_call|tool_code)?\s*(\{.*\})\s*```\s*", re.DOTALL)


@dataclass(frozen=True)
class RawCall:
    """A call as the provider gave it; `arguments` should be JSON."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True)
class ModelAnswer:
    """The first choice of a response."""

    text: str
    calls: tuple[RawCall, ...] = ()
    finish_reason: str = "stop"


def draft_of(answer: ModelAnswer, tools: Sequence[ToolSpec], language: Language) -> DraftCalls | DraftQuestion | None:
    """Calls or a question; None if the answer is words. Raises: PlannerBusy if it is nothing at all."""
    known = {spec.name: spec for spec in tools}
    calls, note = answer.calls, answer.text
    if not calls:
        calls, note = _written_out(answer.text, known)
    if not calls:
        if not _TAGGED.sub("", answer.text).strip():
            raise PlannerBusy(texts.BUSY_REASON["unreadable" if answer.text.strip() else "empty"].say(language))
        return None
    asked = next((call for call in calls if call.name == ASK), None)
    if asked is not None:
        return _question(asked, language)
    drafts = tuple(_call(call, position, known, language) for position, call in enumerate(calls[:MAX_CALLS]))
    return DraftCalls(drafts, note.strip())


def _call(call: RawCall, position: int, known: Mapping[str, ToolSpec], language: Language) -> DraftCall:
    args = _arguments(call.arguments)
    label = call.id or f"call{position}"
    name = call.name[:64] or "unnamed"
    if args is None:
        args = {UNREADABLE: call.arguments[:RAW_CHARACTERS]}
        if name in known and not problem_of(args, known[name].parameters):
            raise PlannerBusy(texts.BUSY_REASON["unreadable"].say(language))
    return DraftCall(name, args, label=label)


def _question(call: RawCall, language: Language) -> DraftQuestion:
    """A question without words is asked in ours: the person is waited for either way."""
    args = _arguments(call.arguments) or {}
    question = args.get("question")
    choices = args.get("choices")
    return DraftQuestion(
        question if isinstance(question, str) and question.strip() else texts.MODEL_ASKS_BLANK.say(language),
        tuple(item for item in choices if isinstance(item, str) and item) if isinstance(choices, list) else (),
        label=call.id or ASK,
    )


def _arguments(text: str) -> JsonObject | None:
    """The object that the text spells; None for broken JSON, other values, and numbers that JSON does not have."""
    try:
        value = json.loads(text or "{}", parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")


def _written_out(text: str, known: Mapping[str, ToolSpec]) -> tuple[tuple[RawCall, ...], str]:
    """Calls that a model wrote as text, tagged or as its whole answer, as small ones do. They are judged like all."""
    tagged = _TAGGED.findall(text)
    pieces = tagged or [found[1] if (found := _FENCED.fullmatch(text)) else text.strip()]
    calls = [call for call in map(_spelled, pieces) if call is not None and (tagged or call.name in known)]
    return tuple(calls), _TAGGED.sub("", text) if tagged else ""


def _spelled(piece: str) -> RawCall | None:
    """`{"name": …, "arguments": {…}}`, or `parameters` for the latter; None for anything else."""
    if not piece.startswith("{"):
        return None
    spelled = _arguments(piece)
    if spelled is None or not spelled.keys() <= {"name", "arguments", "parameters", "id", "type"}:
        return None
    name, args = spelled.get("name"), spelled.get("arguments", spelled.get("parameters"))
    if not isinstance(name, str) or not isinstance(args, dict):
        return None
    return RawCall(id="", name=name, arguments=json.dumps(args))
