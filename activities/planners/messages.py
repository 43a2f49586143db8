"""From a window of turns to the messages of a chat model: the person's words as they are, all else as marked data."""

import json
import re
from collections.abc import Mapping, Sequence

from pydantic import JsonValue

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

_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


class Conversation:
    """Writes the messages for one model call. `boundary` must be a word that no outsider can guess."""

    def __init__(self, boundary: str, language: Language) -> None:
        self._boundary = boundary
        self._language = language

    def messages(self, shown: Window) -> list[JsonObject]:
        system = SYSTEM.format(boundary=self._boundary, language=LANGUAGES[self._language])
        written: list[JsonObject] = [{"role": "system", "content": system}]
        if shown.summary is not None:
            written.append({"role": "user", "content": self._earlier(shown.summary)})
        ids = _wire_ids(shown.turns)
        results = {turn.call_id: turn for turn in shown.turns if isinstance(turn, ToolTurn)}
        for turn in shown.turns:
            written += self._written(turn, ids, results, shown.texts)
        return written

    def _written(
        self, turn: Turn, ids: Mapping[str, str], results: Mapping[str, ToolTurn], texts: Mapping[str, str]
    ) -> list[JsonObject]:
        match turn:
            case UserTurn():
                return [{"role": "user", "content": _said(turn)}]
            case NoteTurn():
                return [{"role": "user", "content": f"[note {self._boundary}] {turn.code}: {turn.text}"}]
            case PlannerTurn() if turn.calls:
                return [
                    _assistant(turn, ids),
                    *(self._result(call, ids[call.call_id], results, texts) for call in turn.calls),
                ]
            case PlannerTurn():
                return [{"role": "assistant", "content": turn.text or "…"}]
            case ToolTurn():
                return []  # It stands right after its call, where providers want it.

    def _result(
        self, call: ToolCall, wire_id: str, results: Mapping[str, ToolTurn], texts: Mapping[str, str]
    ) -> JsonObject:
        turn = results.get(call.call_id)
        if call.tool == "ask_user" and turn is None:
            content = "The person was asked. If they answered, their next message says so."
        elif turn is None:
            content = "This call was not run."
        else:
            state = "succeeded" if turn.ok else f"failed ({turn.error or 'failed'})"
            content = f"The call {state}.\n{self._data(texts.get(call.call_id, turn.headline))}"
        return {"role": "tool", "tool_call_id": wire_id, "content": content}

    def _data(self, text: str) -> str:
        """Between marks; a text that holds the mark itself loses it."""
        return f"<data {self._boundary}>\n{text.replace(self._boundary, '…')}\n</data {self._boundary}>"

    def _earlier(self, summary: Summary) -> str:
        """The older part of the task. The person's own words stand outside the marks, because they bind."""
        parts = [f"[note {self._boundary}] The earlier part of this task in short. The person said, in this order:"]
        parts += [f"- {words}" for words in summary.said]
        if summary.decided:
            parts += ["The system noted:", *(f"- {words}" for words in summary.decided)]
        if summary.done or summary.forgotten:
            skipped = [f"({summary.forgotten} earlier calls are not listed)"] if summary.forgotten else []
            lines = [f"{'ok' if item.ok else 'FAILED'} {item.summary}: {item.headline}" for item in summary.done]
            parts += ["Calls so far:", self._data("\n".join([*skipped, *lines]))]
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


def _said(turn: UserTurn) -> str:
    names = [f"[attached: {item.name}, {item.media_type}, {item.size} bytes]" for item in turn.attachments]
    return "\n".join([turn.text, *names]).strip() or "(no text)"


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
