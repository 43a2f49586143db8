"""The tool `remember`: keep a short text for the person."""

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from activities.arguments import parse, schema_of
from activities.notes import Notes
from activities.parts import ToolParts
from activities.preview import one_line, preview
from activities.tool import Tool, ToolContext
from contracts.language import Language
from contracts.provenance import Provenance, ToolLabels
from contracts.texts import tools as texts
from contracts.tools import ToolResult, ToolSpec
from contracts.values import JsonObject, Value
from contracts.verdicts import MemoryAction


class Arguments(Value):
    """What `remember` is asked."""

    text: Annotated[str, Field(min_length=1, max_length=8_000, description="What to remember, understandable alone.")]


SPEC = ToolSpec(
    name="remember",
    description="Keep a short text about the person, their wishes or their work for later tasks.",
    parameters=schema_of(Arguments),
    repeatable=True,
    needs_sandbox=False,
    labels=ToolLabels(effects=("write",), output="ours", arguments={"text": "text"}, space="own", reversible=True),
)


@dataclass(frozen=True)
class Remember:
    """Stores one note; the call id keeps a repeated call from storing it twice."""

    notes: Notes
    spec: ToolSpec = SPEC

    def actions(self, args: JsonObject) -> tuple[MemoryAction, ...]:
        parse(Arguments, args)
        return (MemoryAction(operation="remember"),)

    def summary(self, args: JsonObject, language: Language) -> str:
        return one_line(texts.REMEMBER_SUMMARY.say(language, text=parse(Arguments, args).text))

    def preview(self, args: JsonObject) -> str:
        return preview({"text": parse(Arguments, args).text})

    def timeout_seconds(self, args: JsonObject) -> float:
        return 30.0

    async def run(self, args: JsonObject, context: ToolContext) -> ToolResult:
        asked = parse(Arguments, args)
        note = await self.notes.of(context.user_id).remember(
            asked.text,
            task_id=context.task_id,
            call_id=context.call_id,
            trusted=context.given.trusted,
            origins=context.given.origins,
            # What a person has remembered for them is theirs, wherever it could once be read.
            confidentiality="secret" if context.given.confidentiality == "secret" else "private",
        )
        text = texts.REMEMBERED.say(context.language, text=note.text)
        return ToolResult(
            call_id=context.call_id,
            tool="remember",
            ok=True,
            headline=one_line(text),
            text=text,
            data={"note_id": note.note_id},
            provenance=Provenance(trusted=True, origins=("tool:remember",), confidentiality="public"),
        )


def tools(parts: ToolParts) -> list[Tool]:
    return [Remember(parts.notes)]
