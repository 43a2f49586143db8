"""The tool `ask_user`: how a model says that it must ask; the planner turns the call into a question."""

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from activities.arguments import parse, schema_of
from activities.parts import ToolParts
from activities.preview import one_line, preview
from activities.tool import Tool, ToolContext
from contracts.language import Language
from contracts.provenance import Provenance, ToolLabels
from contracts.texts import tools as texts
from contracts.tools import ToolResult, ToolSpec
from contracts.values import JsonObject, Value
from contracts.verdicts import TalkAction


class Arguments(Value):
    """What `ask_user` is asked."""

    question: Annotated[str, Field(min_length=1, max_length=4_000, description="One clear question.")]
    choices: Annotated[tuple[str, ...], Field(max_length=8, description="Short answers to pick from, if any.")] = ()


SPEC = ToolSpec(
    name="ask_user",
    description="Ask the person a question when the task cannot go on without their answer.",
    parameters=schema_of(Arguments),
    repeatable=True,
    needs_sandbox=False,
    labels=ToolLabels(output="ours", space="own", arguments={"question": "text", "choices": "text"}),
)


@dataclass(frozen=True)
class AskUser:
    """Described to planners and never run: a call that arrives here anyway says so."""

    spec: ToolSpec = SPEC

    def actions(self, args: JsonObject) -> tuple[TalkAction, ...]:
        parse(Arguments, args)
        return (TalkAction(),)

    def summary(self, args: JsonObject, language: Language) -> str:
        return one_line(texts.ASK_SUMMARY.say(language, question=parse(Arguments, args).question))

    def preview(self, args: JsonObject) -> str:
        asked = parse(Arguments, args)
        return preview({"question": asked.question, "choices": "\n".join(asked.choices) or None})

    def timeout_seconds(self, args: JsonObject) -> float:
        return 10.0

    async def run(self, args: JsonObject, context: ToolContext) -> ToolResult:
        text = texts.ASK_NOT_RUN.say(context.language)
        return ToolResult(
            call_id=context.call_id,
            tool="ask_user",
            ok=False,
            headline=one_line(text),
            text=text,
            provenance=Provenance(trusted=True, origins=("tool:ask_user",), confidentiality="public"),
            error="failed",
        )


def tools(parts: ToolParts) -> list[Tool]:
    return [AskUser()]
