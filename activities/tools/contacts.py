"""The tool `contacts`: the person's own address book, into which nobody else's words can put anything."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from activities.arguments import parse, schema_of
from activities.output import cleaned, shorten
from activities.parts import ToolParts
from activities.preview import one_line, preview
from activities.provenance.contacts import Contact, Contacts
from activities.tool import BadArguments, Tool, ToolContext
from contracts.language import Language
from contracts.provenance import Provenance, ToolLabels
from contracts.texts import contacts as texts
from contracts.tools import RESULT_TEXT_BYTES, ToolError, ToolResult, ToolSpec
from contracts.values import JsonObject, Value
from contracts.verdicts import MemoryAction

_BOOK = Provenance(trusted=True, origins=("contacts",))


class Arguments(Value):
    """What `contacts` is asked."""

    operation: Annotated[Literal["list", "add", "remove"], Field(description="`remove` takes a name or an address.")]
    name: Annotated[str, Field(max_length=200, description="Whose address it is; for `add` and `remove`.")] = ""
    address: Annotated[
        str, Field(max_length=500, description="E-mail address, telephone number, account or chat; for `add`.")
    ] = ""


SPEC = ToolSpec(
    name="contacts",
    description="Look into the person's address book, add somebody whom the person named with an address, or remove.",
    parameters=schema_of(Arguments),
    repeatable=True,
    needs_sandbox=False,
    labels=ToolLabels(
        output="own",
        arguments={"operation": "choice", "name": "text", "address": "recipient"},
        space="own",
        contacts=True,
    ),
)


@dataclass(frozen=True)
class ContactsTool:
    """Touches only the address book of the person who asks."""

    contacts: Contacts
    spec: ToolSpec = SPEC

    def actions(self, args: JsonObject) -> tuple[MemoryAction, ...]:
        return (MemoryAction(operation="recall" if _checked(args).operation == "list" else "remember"),)

    def summary(self, args: JsonObject, language: Language) -> str:
        asked = _checked(args)
        sentence = {"list": texts.LIST_SUMMARY, "add": texts.ADD_SUMMARY, "remove": texts.REMOVE_SUMMARY}[
            asked.operation
        ]
        return one_line(sentence.say(language, name=asked.name, address=asked.address))

    def preview(self, args: JsonObject) -> str:
        asked = _checked(args)
        return preview({"operation": asked.operation, "name": asked.name or None, "address": asked.address or None})

    def timeout_seconds(self, args: JsonObject) -> float:
        return 30.0

    async def run(self, args: JsonObject, context: ToolContext) -> ToolResult:
        asked = _checked(args)
        book = self.contacts.of(context.user_id)
        if asked.operation == "list":
            return _listed(await book.listed(), context)
        if not context.given.trusted:
            sentence = texts.NOT_THEIR_WORDS.say(context.language, name=asked.name, address=asked.address)
            return _result(context, sentence, error="refused")
        if asked.operation == "add":
            contact = await book.add(asked.name, asked.address, task_id=context.task_id)
            said = texts.ADDED.say(context.language, name=contact.name, address=contact.address)
            return _result(context, said, {"contacts": [{"name": contact.name, "address": contact.address}]})
        count = await book.remove(asked.name)
        if count == 0:
            return _result(context, texts.NOT_FOUND.say(context.language, name=asked.name), error="not_found")
        return _result(context, texts.REMOVED.say(context.language, name=asked.name, count=count), {"removed": count})


def tools(parts: ToolParts) -> list[Tool]:
    return [] if parts.contacts is None else [ContactsTool(parts.contacts)]


def _checked(args: JsonObject) -> Arguments:
    asked = parse(Arguments, args)
    if asked.operation != "list" and not asked.name.strip():
        raise BadArguments(f"name: `{asked.operation}` needs one")
    if asked.operation == "add" and not asked.address.strip():
        raise BadArguments("address: `add` needs one")
    if any(not character.isprintable() for character in asked.name + asked.address):
        raise BadArguments("name, address: they may hold no control characters and no line ends")
    return asked


def _listed(found: Sequence[Contact], context: ToolContext) -> ToolResult:
    if not found:
        return _result(context, texts.EMPTY.say(context.language))
    lines = "\n".join(f"- {cleaned(contact.name)}: {cleaned(contact.address)}" for contact in found)
    rows: JsonObject = {"contacts": [{"name": contact.name, "address": contact.address} for contact in found]}
    headline = texts.LISTED.say(context.language, count=len(found))
    return _result(context, headline, rows, text=shorten(lines, RESULT_TEXT_BYTES, context.language))


def _result(
    context: ToolContext,
    headline: str,
    data: JsonObject | None = None,
    *,
    text: str = "",
    error: ToolError | None = None,
) -> ToolResult:
    return ToolResult(
        call_id=context.call_id,
        tool="contacts",
        ok=error is None,
        headline=one_line(headline),
        text=text or headline,
        data=data or {},
        provenance=_BOOK,
        error=error,
    )
