"""The tool `recall`: look up what was remembered for the person."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field, JsonValue

from activities.arguments import parse, schema_of
from activities.notes import Note, Notes
from activities.output import cleaned, shorten
from activities.parts import ToolParts
from activities.preview import one_line, preview
from activities.tool import Tool, ToolContext
from contracts.language import Language
from contracts.provenance import Provenance, ToolLabels
from contracts.texts import tools as texts
from contracts.tools import RESULT_TEXT_BYTES, ToolResult, ToolSpec
from contracts.values import JsonObject, Value
from contracts.verdicts import MemoryAction


class Arguments(Value):
    """What `recall` is asked."""

    query: Annotated[str, Field(max_length=1_000, description="Words to look for; empty gives the newest notes.")]
    limit: Annotated[int, Field(ge=1, le=50, description="At most so many notes.")] = 10


SPEC = ToolSpec(
    name="recall",
    description="Look up notes that were remembered for the person.",
    parameters=schema_of(Arguments),
    repeatable=True,
    needs_sandbox=False,
    labels=ToolLabels(effects=("read",), output="own", arguments={"query": "query", "limit": "number"}, space="own"),
)


@dataclass(frozen=True)
class Recall:
    """Looks only into the notes of the person who asks."""

    notes: Notes
    spec: ToolSpec = SPEC

    def actions(self, args: JsonObject) -> tuple[MemoryAction, ...]:
        parse(Arguments, args)
        return (MemoryAction(operation="recall"),)

    def summary(self, args: JsonObject, language: Language) -> str:
        return one_line(texts.RECALL_SUMMARY.say(language, query=parse(Arguments, args).query))

    def preview(self, args: JsonObject) -> str:
        asked = parse(Arguments, args)
        return preview({"query": asked.query, "limit": asked.limit})

    def timeout_seconds(self, args: JsonObject) -> float:
        return 30.0

    async def run(self, args: JsonObject, context: ToolContext) -> ToolResult:
        asked = parse(Arguments, args)
        notes = await self.notes.of(context.user_id).recall(asked.query, limit=asked.limit)
        return ToolResult(
            call_id=context.call_id,
            tool="recall",
            ok=True,
            headline=_headline(notes, context.language),
            text=_text(notes, context.language),
            data={"notes": [_row(note) for note in notes]},
            provenance=_provenance(notes),
        )


def tools(parts: ToolParts) -> list[Tool]:
    return [Recall(parts.notes)]


def _row(note: Note) -> JsonValue:
    return {
        "note_id": note.note_id,
        "text": note.text,
        "task_id": note.task_id,
        "trusted": note.trusted,
        "origins": [f"memory:{note.note_id}", *note.origins],
    }


def _provenance(notes: Sequence[Note]) -> Provenance:
    trusted = all(note.trusted for note in notes)
    origins = tuple(f"memory:{note.note_id}" for note in notes)
    secret = any(note.confidentiality == "secret" for note in notes)
    return Provenance(trusted=trusted, origins=origins, confidentiality="secret" if secret else "private")


def _headline(notes: Sequence[Note], language: Language) -> str:
    return texts.RECALLED.say(language, count=len(notes)) if notes else texts.RECALLED_NOTHING.say(language)


def _text(notes: Sequence[Note], language: Language) -> str:
    if not notes:
        return texts.RECALLED_NOTHING.say(language)
    lines = (f"- {note.at:%Y-%m-%d}: {cleaned(note.text)}" for note in notes)
    return shorten("\n".join(lines), RESULT_TEXT_BYTES, language)
