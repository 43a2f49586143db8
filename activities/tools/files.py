"""The tool `files`: read, write, list, send and delete files of the task's sandbox."""

import mimetypes
import posixpath
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Annotated, Literal

from pydantic import Field, JsonValue

from activities.arguments import parse, schema_of
from activities.output import KEPT_BYTES, keep, plain, shorten, show
from activities.parts import ToolParts
from activities.preview import one_line, preview
from activities.tool import BadArguments, Tool, ToolContext
from activities.undo import forget
from activities.undo import keep as keep_before
from contracts.language import Language
from contracts.messages import Attachment
from contracts.provenance import Provenance, ToolLabels
from contracts.sandbox import Command, FileEntry, FileRefused
from contracts.texts import tools as texts
from contracts.texts import undo as undo_texts
from contracts.tools import RESULT_TEXT_BYTES, ToolResult, ToolSpec
from contracts.values import JsonObject, Value
from contracts.verdicts import Action, FileAction, SendAction

_MOST_ENTRIES = 500
_OURS = Provenance(trusted=True, origins=("tool:files",), confidentiality="public")


class Arguments(Value):
    """What `files` is asked."""

    operation: Annotated[
        Literal["read", "write", "list", "send", "delete"],
        Field(description="`send` gives the file to the person together with the answer."),
    ]
    path: Annotated[str, Field(min_length=1, max_length=4_096, description="Relative paths start at /workspace.")]
    content: Annotated[str | None, Field(description="The new text of the file; only for `write`.")] = None


SPEC = ToolSpec(
    name="files",
    description="Read, write, list, send (to the person) or delete a file of the sandbox.",
    parameters=schema_of(Arguments),
    repeatable=True,
    needs_sandbox=True,
    labels=ToolLabels(
        output="foreign",  # others may have written what lies in the sandbox; each result says whether they could
        arguments={"operation": "choice", "path": "path", "content": "text"},
        space="own",
        reversible=True,
    ),
)


@dataclass(frozen=True)
class FileTool:
    """Touches one path, and only inside the sandbox."""

    spec: ToolSpec = SPEC

    def actions(self, args: JsonObject) -> tuple[Action, ...]:
        asked = _checked(args)
        if asked.operation == "send":
            return FileAction(operation="read", path=asked.path), SendAction(recipient="self", what=asked.path)
        return (FileAction(operation=asked.operation, path=asked.path),)

    def summary(self, args: JsonObject, language: Language) -> str:
        asked = _checked(args)
        return one_line(texts.FILES_SUMMARY[asked.operation].say(language, path=asked.path))

    def preview(self, args: JsonObject) -> str:
        asked = _checked(args)
        return preview({"operation": asked.operation, "path": asked.path, "content": asked.content})

    def timeout_seconds(self, args: JsonObject) -> float:
        return 120.0

    async def run(self, args: JsonObject, context: ToolContext) -> ToolResult:
        asked = _checked(args)
        try:
            return await _OPERATIONS[asked.operation](asked, context)
        except FileRefused as refused:
            return await _refused(asked.path, str(refused), context)


def tools(parts: ToolParts) -> list[Tool]:
    return [FileTool()]


def _checked(args: JsonObject) -> Arguments:
    asked = parse(Arguments, args)
    if "\x00" in asked.path:
        raise BadArguments("path: a path may not hold a zero byte")
    if asked.operation == "write" and asked.content is None:
        raise BadArguments("content: `write` needs the text to write")
    if asked.operation != "write" and asked.content is not None:
        raise BadArguments(f"content: `{asked.operation}` takes none")
    return asked


async def _read(asked: Arguments, context: ToolContext) -> ToolResult:
    content = await context.sandbox.files.read(asked.path, max_bytes=KEPT_BYTES)
    digest, name = sha256(content).hexdigest(), posixpath.basename(asked.path)
    data: JsonObject = {"path": asked.path, "size": len(content), "sha256": digest}
    if _is_binary(content):
        words = {"path": asked.path, "size": len(content), "media_type": _media_type(asked.path)}
        return _result(
            context, texts.FILE_BINARY.say(context.language, **words), data, provenance=_from(asked.path, context)
        )
    shown = await show(content, name, RESULT_TEXT_BYTES, blobs=context.blobs, language=context.language)
    return _result(
        context,
        texts.FILE_READ.say(context.language, path=asked.path, size=len(content)),
        data | {"text": shown.text},
        text=shown.text,
        files=(shown.file,) if shown.file else (),
        provenance=_from(asked.path, context),
    )


async def _write(asked: Arguments, context: ToolContext) -> ToolResult:
    content = (asked.content or "").encode()
    note = await _kept_note(asked.path, content, context)
    await context.sandbox.files.write(asked.path, content)
    data: JsonObject = {"path": asked.path, "size": len(content), "sha256": sha256(content).hexdigest()}
    headline = texts.FILE_WRITTEN.say(context.language, path=asked.path, size=len(content))
    return _result(context, headline, data, text=f"{headline}{note}")


async def _list(asked: Arguments, context: ToolContext) -> ToolResult:
    entries = sorted(await context.sandbox.files.list(asked.path), key=lambda entry: entry.name)
    data: JsonObject = {"path": asked.path, "count": len(entries), "entries": _rows(entries[:_MOST_ENTRIES])}
    return _result(
        context,
        texts.FILES_LISTED.say(context.language, path=asked.path, count=len(entries)),
        data,
        text=_table(entries, context.language),
        provenance=_from(asked.path, context),
    )


async def _send(asked: Arguments, context: ToolContext) -> ToolResult:
    content = await context.sandbox.files.read(asked.path, max_bytes=KEPT_BYTES)
    sent = await keep(content, posixpath.basename(asked.path), _media_type(asked.path), context.blobs)
    data: JsonObject = {"path": asked.path, "name": sent.name, "size": sent.size}
    return _result(context, texts.FILE_SENT.say(context.language, name=sent.name, size=sent.size), data, send=(sent,))


async def _delete(asked: Arguments, context: ToolContext) -> ToolResult:
    entry = await _entry(asked.path, context)
    if entry is None:
        return _missing(asked.path, context)
    note = await _kept_note(asked.path, None, context)
    # -d takes an empty folder too; a full one is left to the person's eyes.
    outcome = await context.sandbox.run(Command(argv=("rm", "-fd", "--", _whole(asked.path)), timeout_seconds=60))
    if outcome.exit_code == 0:
        headline = texts.FILE_DELETED.say(context.language, path=asked.path)
        return _result(context, headline, {"path": asked.path}, text=f"{headline}{note}")
    await forget(context.sandbox, context.call_id)
    if entry.kind == "folder":
        text = texts.FOLDER_NOT_EMPTY.say(context.language, path=asked.path)
        return _result(context, text, {"path": asked.path}, error="refused")
    return await _refused(asked.path, plain(outcome.stderr.head).strip(), context)


_OPERATIONS = {"read": _read, "write": _write, "list": _list, "send": _send, "delete": _delete}


async def _kept_note(path: str, after: bytes | None, context: ToolContext) -> str:
    """Keeps what is there for a person to take the call back, and says so where that cannot be."""
    try:
        before = await keep_before(context.sandbox, context.call_id, _whole(path), after)
    except FileRefused:
        before = "other"
    return f" {undo_texts.NO_COPY.say(context.language)}" if before in ("too_large", "other") else ""


async def _entry(path: str, context: ToolContext) -> FileEntry | None:
    folder, name = posixpath.split(_whole(path))
    entries = await context.sandbox.files.list(folder)
    return next((entry for entry in entries if entry.name == name), None)


async def _refused(path: str, why: str, context: ToolContext) -> ToolResult:
    if await _is_missing(path, context):
        return _missing(path, context)
    text = texts.FILE_REFUSED.say(context.language, path=path, why=why)
    return _result(context, text, {"path": path}, error="refused")


async def _is_missing(path: str, context: ToolContext) -> bool:
    try:
        return await _entry(path, context) is None
    except FileRefused:
        return False


def _missing(path: str, context: ToolContext) -> ToolResult:
    text = texts.FILE_NOT_FOUND.say(context.language, path=path)
    return _result(context, text, {"path": path}, error="not_found")


def _result(
    context: ToolContext,
    headline: str,
    data: JsonObject,
    *,
    text: str | None = None,
    files: tuple[Attachment, ...] = (),
    send: tuple[Attachment, ...] = (),
    provenance: Provenance = _OURS,
    error: str | None = None,
) -> ToolResult:
    return ToolResult(
        call_id=context.call_id,
        tool="files",
        ok=error is None,
        headline=one_line(headline),
        text=headline if text is None else text,
        data=data,
        files=files,
        send=send,
        provenance=provenance,
        error=error,
    )


def _from(path: str, context: ToolContext) -> Provenance:
    return context.from_sandbox(f"file:{_whole(path)}")


def _whole(path: str) -> str:
    return posixpath.normpath(posixpath.join("/workspace", path))


def _media_type(path: str) -> str:
    return mimetypes.guess_type(path)[0] or "application/octet-stream"


def _is_binary(content: bytes) -> bool:
    return b"\x00" in content[:65_536] or "\ufffd" in content[:65_536].decode("utf-8", "replace")[:-3]


def _rows(entries: Sequence[FileEntry]) -> list[JsonValue]:
    return [{"name": entry.name, "kind": entry.kind, "size": entry.size} for entry in entries]


def _table(entries: Sequence[FileEntry], language: Language) -> str:
    lines = [f"{entry.kind:<7}{entry.size:>12,}  {one_line(entry.name)}" for entry in entries[:_MOST_ENTRIES]]
    if len(entries) > _MOST_ENTRIES:
        lines.append(texts.FILES_MORE.say(language, count=len(entries) - _MOST_ENTRIES))
    return shorten("\n".join(lines), RESULT_TEXT_BYTES, language)
