"""From a planner's draft to a step that workflows can run: ids, digests, summaries, and long texts by reference."""

import secrets
from collections.abc import Mapping, Sequence

import jsonschema
from jsonschema.exceptions import best_match
from pydantic import JsonValue

from activities.planner import DraftCall
from activities.tool import BadArguments, Tool
from contracts.blobs import Blobs
from contracts.language import Language
from contracts.messages import INLINE_TEXT_BYTES
from contracts.planning import Reply
from contracts.texts import planner as texts
from contracts.tools import HEADLINE_CHARACTERS, INLINE_ARGS_BYTES, ToolCall, args_digest, canonical_json
from contracts.values import JsonObject


class CallWriter:
    """Writes the calls of one step. A call that no tool can run is written all the same: judging it says so."""

    def __init__(self, tools: Mapping[str, Tool], blobs: Blobs, language: Language) -> None:
        self._tools = tools
        self._blobs = blobs
        self._language = language

    async def write(self, drafts: Sequence[DraftCall], step: int) -> tuple[ToolCall, ...]:
        """One call for each draft, with the labels of `after` turned into call ids."""
        ids = [f"{step}.{position}-{secrets.token_hex(3)}" for position in range(len(drafts))]
        by_label = {draft.label: call_id for draft, call_id in zip(drafts, ids, strict=True) if draft.label}
        return tuple(
            [
                await self._call(draft, call_id, tuple(by_label[label] for label in draft.after if label in by_label))
                for draft, call_id in zip(drafts, ids, strict=True)
            ]
        )

    async def _call(self, draft: DraftCall, call_id: str, after: tuple[str, ...]) -> ToolCall:
        args = clean_object(draft.args)
        canonical = canonical_json(args).encode()
        is_long = len(canonical) > INLINE_ARGS_BYTES
        return ToolCall(
            call_id=call_id,
            tool=draft.tool,
            args=None if is_long else args,
            args_ref=await self._blobs.put(canonical) if is_long else None,
            args_sha256=args_digest(draft.tool, args),
            summary=self._summary(draft.tool, args),
            after=after,
            label=draft.label,
            own_words=draft.own_words,
        )

    def _summary(self, name: str, args: JsonObject) -> str:
        tool = self._tools.get(name)
        if tool is None:
            return texts.UNKNOWN_TOOL_CALL.say(self._language, tool=name[:48])
        if problem_of(args, tool.spec.parameters):
            return texts.BAD_CALL.say(self._language, tool=name)
        try:
            return tool.summary(args, self._language)[:HEADLINE_CHARACTERS]
        except BadArguments:
            return texts.BAD_CALL.say(self._language, tool=name)


async def write_reply(text: str, outcome: str, blobs: Blobs) -> Reply:
    """A reply whose text lies in a blob where it is too long for history."""
    text = clean_text(text)
    content = text.encode()
    if len(content) <= INLINE_TEXT_BYTES:
        return Reply.model_validate({"text": text, "outcome": outcome})
    beginning = content[:INLINE_TEXT_BYTES].decode(errors="ignore")
    return Reply.model_validate({"text": beginning, "text_ref": await blobs.put(content), "outcome": outcome})


def problem_of(args: JsonObject, schema: JsonObject) -> str:
    """What is wrong with the arguments by a tool's schema; empty if nothing is."""
    error = best_match(jsonschema.Draft202012Validator(schema).iter_errors(args))
    return "" if error is None else f"{error.json_path}: {error.message[:200]}"


def clean_text(text: str) -> str:
    """Replace halves of surrogate pairs, which models produce in `\\ud83d` escapes and no encoder accepts."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def clean_object(args: JsonObject) -> JsonObject:
    return {clean_text(name): _clean(value) for name, value in args.items()}


def _clean(value: JsonValue) -> JsonValue:
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, list):
        return [_clean(item) for item in value]
    if isinstance(value, dict):
        return clean_object(value)
    return value
