"""The tool `shell`: run a bash script, or one program without any shell, in the task's sandbox."""

import shlex
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from activities.arguments import parse, schema_of
from activities.limits import limit_sentence
from activities.output import Shown, show_stream
from activities.parts import ToolParts
from activities.preview import one_line, preview
from activities.tool import BadArguments, Tool, ToolContext
from contracts.language import Language
from contracts.provenance import ToolLabels
from contracts.sandbox import Command, CommandOutcome, FileRefused
from contracts.texts import tools as texts
from contracts.tools import RESULT_TEXT_BYTES, ToolError, ToolResult, ToolSpec
from contracts.values import JsonObject, Value
from contracts.verdicts import CommandAction

_STDERR_ROOM = 8_192
_FRAME_ROOM = 1_024
_GRACE_SECONDS = 30.0


class Arguments(Value):
    """What `shell` is asked."""

    script: Annotated[str | None, Field(min_length=1, description="The bash script, one line or many.")] = None
    argv: Annotated[
        tuple[str, ...] | None,
        Field(
            min_length=1,
            max_length=500,
            description="Instead of `script`: one program and its arguments, run without a shell. Nothing in them is "
            "expanded, so this is the way for values that came from elsewhere, such as names with blanks or quotes.",
        ),
    ] = None
    timeout_seconds: Annotated[
        float, Field(gt=0, le=3_600, allow_inf_nan=False, description="It is stopped after this time.")
    ] = 120
    cwd: Annotated[str, Field(min_length=1, description="Folder to run in.")] = "/workspace"
    env: Annotated[dict[str, str], Field(default_factory=dict, description="Variables for it.")]

    @property
    def shown(self) -> str:
        """In one text, as one would type it."""
        return self.script or shlex.join(self.argv or ())


SPEC = ToolSpec(
    name="shell",
    description="Run a bash script (`script`), or one program without a shell (`argv`), in the sandbox and give its "
    "exit code and output. Files live in /workspace.",
    parameters=schema_of(Arguments),
    # The sandbox runs a call id once: asking again joins the script that runs or gives its outcome.
    repeatable=True,
    needs_sandbox=True,
    labels=ToolLabels(
        effects=("execute",),
        output="foreign",
        # What a variable holds can run as well as the script that names it.
        arguments={
            "script": "command",
            "argv": "command",
            "cwd": "path",
            "env": "command",
            "timeout_seconds": "number",
        },
        space="own",
    ),
)


@dataclass(frozen=True)
class Shell:
    """Runs a command; the exit code is a result, whatever it is."""

    spec: ToolSpec = SPEC

    def actions(self, args: JsonObject) -> tuple[CommandAction, ...]:
        asked = _checked(args)
        return (CommandAction(script=asked.script, argv=asked.argv, cwd=asked.cwd, env=asked.env),)

    def summary(self, args: JsonObject, language: Language) -> str:
        lines = _checked(args).shown.strip().splitlines()
        return one_line(texts.SHELL_SUMMARY.say(language, script=" ⏎ ".join(lines)))

    def preview(self, args: JsonObject) -> str:
        asked = _checked(args)
        how = {"argv" if asked.argv else "script": asked.shown}
        shown = {**how, "cwd": asked.cwd, "timeout_seconds": f"{asked.timeout_seconds:g}"}
        return preview({**shown, **{f"env {name}": value for name, value in asked.env.items()}})

    def timeout_seconds(self, args: JsonObject) -> float:
        return parse(Arguments, args).timeout_seconds + _GRACE_SECONDS

    async def run(self, args: JsonObject, context: ToolContext) -> ToolResult:
        asked = _checked(args)
        command = Command(
            script=asked.script,
            argv=asked.argv,
            cwd=asked.cwd,
            env=asked.env,
            timeout_seconds=asked.timeout_seconds,
            call_id=context.call_id,
        )
        try:
            outcome = await context.sandbox.run(command, lambda seen: context.beat(f"{seen} bytes"))
        except FileRefused as refused:
            return _refused(context, str(refused))
        return await _result(asked, outcome, context)


def tools(parts: ToolParts) -> list[Tool]:
    return [Shell()]


def _checked(args: JsonObject) -> Arguments:
    asked = parse(Arguments, args)
    if (asked.script is None) == (asked.argv is None):
        raise BadArguments("script: give either `script`, for bash, or `argv`, for one program without a shell")
    return asked


async def _result(asked: Arguments, outcome: CommandOutcome, context: ToolContext) -> ToolResult:
    stderr = await _shown(outcome, "stderr", _STDERR_ROOM, context)
    room = RESULT_TEXT_BYTES - _FRAME_ROOM - len(stderr.text.encode())
    stdout = await _shown(outcome, "stdout", room, context)
    headline = _headline(asked, outcome, context.language)
    return ToolResult(
        call_id=context.call_id,
        tool="shell",
        ok=outcome.exit_code == 0,
        headline=headline,
        text=_text(headline, stdout.text, stderr.text, outcome, context.language),
        data=_data(outcome, stdout.text, stderr.text),
        files=tuple(shown.file for shown in (stdout, stderr) if shown.file),
        provenance=context.from_sandbox("sandbox:command"),
        error=_error(outcome),
    )


async def _shown(outcome: CommandOutcome, stream: str, room: int, context: ToolContext) -> Shown:
    captured = outcome.stdout if stream == "stdout" else outcome.stderr
    name = f"{stream}-{context.call_id}.txt"
    files = context.sandbox.files
    return await show_stream(captured, name, room, files=files, blobs=context.blobs, language=context.language)


def _headline(asked: Arguments, outcome: CommandOutcome, language: Language) -> str:
    limit = limit_sentence(outcome, language)
    if limit is not None and outcome.exit_code != 0:
        return limit
    if outcome.timed_out:
        return texts.SHELL_TIMED_OUT.say(language, limit=asked.timeout_seconds)
    if outcome.exit_code is None:
        return texts.SHELL_SIGNALLED.say(language, signal=outcome.signal or "?", seconds=outcome.seconds)
    return texts.SHELL_EXITED.say(language, code=outcome.exit_code, seconds=outcome.seconds)


def _text(headline: str, stdout: str, stderr: str, outcome: CommandOutcome, language: Language) -> str:
    parts = [headline]
    if stdout:
        parts.append("stdout:\n" + stdout.rstrip("\n"))
    if stderr:
        parts.append("stderr:\n" + stderr.rstrip("\n"))
    if not stdout and not stderr:
        parts.append(texts.SHELL_SILENT.say(language))
    limit = limit_sentence(outcome, language)
    if limit is not None and limit != headline:
        parts.append(f"[{limit}]")
    elif outcome.stdout.clipped or outcome.stderr.clipped:
        parts.append(texts.SHELL_CLIPPED.say(language))
    return "\n\n".join(parts)


def _data(outcome: CommandOutcome, stdout: str, stderr: str) -> JsonObject:
    return {
        "exit_code": outcome.exit_code,
        "signal": outcome.signal,
        "timed_out": outcome.timed_out,
        "limit": outcome.limit,
        "limit_amount": outcome.limit_amount,
        "seconds": outcome.seconds,
        "stdout": stdout,
        "stderr": stderr,
    }


def _error(outcome: CommandOutcome) -> ToolError | None:
    if outcome.timed_out:
        return "timed_out"
    if outcome.exit_code == 0:
        return None
    return "failed" if outcome.limit is None else "over_limit"


def _refused(context: ToolContext, why: str) -> ToolResult:
    text = texts.FOLDER_REFUSED.say(context.language, why=why)
    return ToolResult(
        call_id=context.call_id,
        tool="shell",
        ok=False,
        headline=one_line(text),
        text=text,
        provenance=context.from_sandbox("sandbox:command"),
        error="refused",
    )
