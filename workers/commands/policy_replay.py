"""`asos policy explain` and `asos policy test`: what was decided at a step and why, and what a draft would change."""

import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated

import typer
from pydantic import TypeAdapter, ValidationError
from rich.console import Console
from rich.table import Table
from rich.text import Text

from audit.storage import StorageUnusable
from contracts.language import Language
from contracts.texts import policy_command as texts
from contracts.texts.policy import REASONS
from contracts.values import JsonObject
from contracts.verdicts import Reason, Verdict
from policy.findings import visible
from policy.judge import judge
from policy.roles import Policy
from runtime.confidential import Confidential
from runtime.keys import Keyring, KeyringUnusable, SealBroken, UnknownKey
from runtime.paths import DataPaths
from runtime.settings import Settings
from workers.commands.policy_files import COLOURS, FAILED, USAGE, fail, load, settings_or_fail
from workers.commands.recorded import NoSuchTask, Recorded, recorded, task_named

_SPAN = re.compile(r"^(\d{1,5})\s*([hdw])$")
_REASONS = TypeAdapter(list[Reason])
_HOURS = {"h": 1, "d": 24, "w": 168}

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object for programs.")]


def explain(
    task: Annotated[str, typer.Argument(help="Id of the task, or its beginning or end, or `last`.")],
    step: Annotated[str, typer.Argument(help="Number of the step, or the id of a call.")],
    as_json: Json = False,
) -> None:
    """Say what was asked at a step, what policy answered, and for which reasons and rules."""
    settings = settings_or_fail()
    language = settings.language
    try:
        task_id = task_named(DataPaths(settings.data_dir).audit_log, task)
        lines = list(_read(settings, task_id=task_id))
    except (NoSuchTask, StorageUnusable) as error:
        fail(str(error), FAILED)
    found = [line for line in lines if step in (line.step, line.call_id)]
    if not found:
        steps = ", ".join(dict.fromkeys(line.step for line in lines)) or "-"
        fail(texts.NO_STEP.say(language, task=task_id, step=step, steps=steps), FAILED)
    if as_json:
        typer.echo(json.dumps([line.model_dump(mode="json") for line in found], ensure_ascii=False))
        return
    console = Console(soft_wrap=True)
    for line in found:
        _show(console, line, language)


def replay(
    file: Annotated[Path, typer.Argument(help="The draft of a policy file.")],
    since: Annotated[str, typer.Option(help="How far back: 12h, 30d or 4w.")] = "30d",
    overlay: Annotated[list[Path] | None, typer.Option(help="A file that may only tighten; may be repeated.")] = None,
    as_json: Json = False,
) -> None:
    """Put the recorded questions to a draft, and list the decisions that would be others. Nothing is touched."""
    settings = settings_or_fail()
    begin = datetime.now(UTC) - _span(since)
    draft = load(file, overlay or [])
    flipped: list[JsonObject] = []
    replayed, unreadable = 0, 0
    try:
        for line in _read(settings, since=begin):
            if line.question is None:
                unreadable += 1
                continue
            replayed += 1
            after = judge(line.question, draft)
            if after.kind != line.verdict:
                flipped.append(_flip(line, after))
    except StorageUnusable as error:
        fail(str(error), FAILED)
    if as_json:
        facts = {"version": draft.version, "since": begin.isoformat(), "replayed": replayed}
        typer.echo(json.dumps({**facts, "unreadable": unreadable, "flipped": flipped}, ensure_ascii=False))
    else:
        _tell(draft, replayed, unreadable, flipped, settings.language)


def _read(settings: Settings, *, task_id: str | None = None, since: datetime | None = None) -> list[Recorded]:
    """Raises: StorageUnusable."""
    try:
        words = Confidential(Keyring.load(settings.data_dir), str)
    except KeyringUnusable as error:
        fail(str(error), FAILED)

    def unseal(box: str) -> str:
        try:
            return words.unseal(box)
        except (UnknownKey, SealBroken) as error:
            raise ValueError(str(error)) from error

    try:
        return list(recorded(DataPaths(settings.data_dir).audit_log, unseal, task_id=task_id, since=since))
    except ValidationError as error:
        raise StorageUnusable(f"a record is damaged ({error.errors()[0]['msg']}); run `asos audit verify`") from error


def _span(text: str) -> timedelta:
    found = _SPAN.match(text.strip().lower())
    if found is None:
        fail(f"--since {text!r} is no time: write a number and h, d or w, such as 30d", USAGE)
    return timedelta(hours=int(found[1]) * _HOURS[found[2]])


def _show(console: Console, line: Recorded, language: Language) -> None:
    title = texts.ASKED.say(language, call=line.call_id, tool=line.tool or "-", at=f"{line.at:%Y-%m-%d %H:%M:%S}")
    console.print(Text(title, style="bold"))
    for action in line.question.actions if line.question else ():
        facts = action.model_dump(mode="json", exclude={"kind"}, exclude_defaults=True)
        console.print(Text(f"  {action.kind}: {visible(json.dumps(facts, ensure_ascii=False))}"))
    if line.problem:
        console.print(Text(f"  {texts.NO_QUESTION.say(language, problem=line.problem)}", style="dim"))
    console.print(Text(f"  {line.verdict}", style=COLOURS.get(line.verdict, "")), highlight=False)
    for reason in line.reasons:
        console.print(Text(f"  - {sentence(reason, language)} [{reason.rule}]"), highlight=False)
    if line.rules:
        console.print(Text(f"  {texts.RULES.say(language, rules=', '.join(line.rules))}"), highlight=False)
    parts = ", ".join(
        f"{part.name} {part.points}{f' ({part.detail})' if part.detail else ''}" for part in line.risk_parts
    )
    console.print(Text(f"  {texts.RISK.say(language, risk=line.risk, parts=parts or '-')}"), highlight=False)
    console.print(Text(f"  {texts.VERSION.say(language, version=line.policy_version[:12] or '-')}"), highlight=False)


def sentence(reason: Reason, language: Language) -> str:
    """As a person reads it; a rule that is not policy's own is shown by its id."""
    known = REASONS.get(reason.rule)
    return known.say(language, detail=reason.detail) if known else f"{reason.rule}: {reason.detail}"


def _flip(line: Recorded, after: Verdict) -> JsonObject:
    return {
        "task": line.task_id,
        "step": line.step,
        "call": line.call_id,
        "tool": line.tool,
        "before": line.verdict,
        "after": after.kind,
        "reasons": [reason.model_dump(mode="json") for reason in after.reasons],
        "rules": list(after.rules),
    }


def _tell(draft: Policy, replayed: int, unreadable: int, flipped: list[JsonObject], language: Language) -> None:
    console = Console()
    if flipped:
        console.print(_table(flipped, language))
    for ignored in draft.ignored:
        console.print(Text(ignored, style="yellow"))
    summary = texts.REPLAYED.say(language, replayed=replayed, flipped=len(flipped), unreadable=unreadable)
    console.print(summary, highlight=False)


def _table(flipped: list[JsonObject], language: Language) -> Table:
    table = Table(*(heading.say(language) for heading in texts.FLIPPED))
    for flip in flipped:
        reasons = flip["reasons"]
        said = (
            [sentence(Reason.model_validate(each), language) for each in reasons] if isinstance(reasons, list) else []
        )
        before, after = str(flip["before"]), str(flip["after"])
        table.add_row(
            str(flip["task"])[-6:],
            str(flip["step"]),
            str(flip["tool"]),
            Text(before, style=COLOURS.get(before, "")),
            Text(after, style=COLOURS.get(after, "")),
            Text(" ".join(said)),
        )
    return table
