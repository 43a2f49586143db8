"""From a window of turns to the messages of a chat model: the person's words as they are, all else as marked data."""

import json
import re
from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from activities.planners.marks import Marks
from activities.planners.prompt import LANGUAGES, SYSTEM
from contracts.language import Language
from contracts.tools import ToolCall, ToolSpec
from contracts.transcript import NoteTurn, PlannerTurn, ToolTurn, Turn, UserTurn
from contracts.values import JsonObject
from memory.summary import Summary
from memory.tokens import clip
from memory.window import Window

ARGUMENT_TOKENS = 800
"""The most that is shown again of one argument of an earlier call."""

_CODE = re.compile(r"[a-z_]{1,24}")
_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


class Conversation:
    """Writes the messages for one model call. `boundary` must be a word that no outsider can guess."""

    def __init__(self, boundary: str, language: Language) -> None:
        self._boundary = boundary
        self._marks = Marks(boundary)
        self._language = language

    def messages(self, shown: Window) -> list[JsonObject]:
        system = SYSTEM.format(boundary=self._boundary, language=LANGUAGES[self._language])
        written: list[JsonObject] = [{"role": "system", "content": system}]
        if shown.summary is not None:
            written.append({"role": "user", "content": self._earlier(shown.summary)})
        ids = _wire_ids(shown.turns)
        results = {turn.call_id: turn for turn in shown.turns if isinstance(turn, ToolTurn)}
        for turn in shown.turns:
            written += self._written(turn, ids, results, shown)
        return written

    def _written(
        self, turn: Turn, ids: Mapping[str, str], results: Mapping[str, ToolTurn], shown: Window
    ) -> list[JsonObject]:
        match turn:
            case UserTurn():
                return [{"role": "user", "content": self._said(turn)}]
            case NoteTurn():
                # A note can repeat what a tool said, such as an error that comes again and again.
                content = f"{self._marks.note(f'{turn.code}:')}\n{self._marks.data(turn.text, trusted=False)}"
                return [{"role": "user", "content": content}]
            case PlannerTurn() if turn.calls:
                return [
                    _assistant(turn, ids),
                    *(self._result(call, ids[call.call_id], results, shown) for call in turn.calls),
                ]
            case PlannerTurn():
                return [{"role": "assistant", "content": turn.text or "…"}]
            case ToolTurn():
                return []  # It stands right after its call, where providers want it.

    def _result(self, call: ToolCall, wire_id: str, results: Mapping[str, ToolTurn], shown: Window) -> JsonObject:
        turn = results.get(call.call_id)
        if call.tool == "ask_user" and turn is None:
            content = "The person was asked. If they answered, their next message says so."
        elif turn is None:
            content = "This call was not run."
        else:
            text, trusted = shown.texts.get(call.call_id, turn.headline), call.call_id in shown.trusted
            content = f"The call {_state(turn)}.\n{self._marks.data(text, trusted=trusted)}"
        return {"role": "tool", "tool_call_id": wire_id, "content": content}

    def _said(self, turn: UserTurn) -> str:
        """Whoever made a file gave it its name."""
        names = [f"{item.name}, {item.media_type}, {item.size} bytes {item.caption}" for item in turn.attachments]
        files = "Attached:\n" + self._marks.data("\n".join(names), trusted=False) if names else ""
        return "\n".join(filter(None, (self._marks.said(turn.text), files))) or "(no text)"

    def _earlier(self, summary: Summary) -> str:
        """The older part of the task. The person's own words stand outside the marks, because they bind."""
        parts = [self._marks.note("The earlier part of this task in short. The person said, in this order:")]
        parts += [f"- {self._marks.without(words)}" for words in summary.said]
        if summary.passed_on:
            parts += ["They passed on:", *(self._marks.data(words, trusted=False) for words in summary.passed_on)]
        if summary.decided:
            noted = "\n".join(f"- {words}" for words in summary.decided)
            parts += ["The system noted:", self._marks.data(noted, trusted=False)]
        if summary.done or summary.forgotten:
            skipped = [f"({summary.forgotten} earlier calls are not listed)"] if summary.forgotten else []
            lines = [f"{'ok' if item.ok else 'FAILED'} {item.summary}: {item.headline}" for item in summary.done]
            parts += ["Calls so far:", self._marks.data("\n".join([*skipped, *lines]), trusted=False)]
        return "\n".join(parts)


def tool_schemas(tools: Sequence[ToolSpec]) -> list[JsonObject]:
    """The tools as chat models are told of them."""
    return [
        {
            "type": "function",
            "function": {"name": spec.name, "description": spec.description, "parameters": spec.parameters},
        }
        for spec in tools
    ]


def _state(turn: ToolTurn) -> str:
    """A code is a word of ours; anything else that stands in its place is not shown."""
    code = turn.error if turn.error and _CODE.fullmatch(turn.error) else "failed"
    return "succeeded" if turn.ok else f"failed ({code})"


def _assistant(turn: PlannerTurn, ids: Mapping[str, str]) -> JsonObject:
    calls: list[JsonValue] = [
        {
            "id": ids[call.call_id],
            "type": "function",
            "function": {"name": call.tool, "arguments": json.dumps(_short(call.args or {}), ensure_ascii=False)},
        }
        for call in turn.calls
    ]
    content = turn.text if all(call.tool != "ask_user" for call in turn.calls) else ""
    return {"role": "assistant", "content": content or None, "tool_calls": calls}


def _short(value: JsonValue) -> JsonValue:
    if isinstance(value, str):
        return clip(value, ARGUMENT_TOKENS)
    if isinstance(value, list):
        return [_short(item) for item in value]
    if isinstance(value, dict):
        return {name: _short(item) for name, item in value.items()}
    return value


def _wire_ids(turns: Sequence[Turn]) -> dict[str, str]:
    """The provider's own ids where it gave good ones, since some take only their own shape; each once."""
    ids: dict[str, str] = {}
    for call in (call for turn in turns if isinstance(turn, PlannerTurn) for call in turn.calls):
        own = call.label if _ID.fullmatch(call.label) and call.label not in ids.values() else ""
        ids[call.call_id] = own or "call_" + re.sub(r"[^A-Za-z0-9]", "", call.call_id)
    return ids
