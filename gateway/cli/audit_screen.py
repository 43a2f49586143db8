"""How audit records look at a terminal."""

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from rich.table import Table
from rich.text import Text

from audit.chain import Record
from audit.replay.brief import brief
from contracts.language import Language
from contracts.texts import auditing as texts
from contracts.texts import replay as kinds
from contracts.values import JsonObject

MOST_CHARACTERS = 400

_AGE = re.compile(r"(\d{1,5})([dhm])")
_UNITS = {"d": "days", "h": "hours", "m": "minutes"}


@dataclass(frozen=True)
class Shown:
    """One line of the table."""

    when: str
    what: str
    who: str
    call: str
    facts: str
    policy: str


def ages(said: str, now: datetime) -> datetime | None:
    """From when on, for `30d`, `12h`, `45m` or a date in UTC; None for nothing and for what is neither."""
    if found := _AGE.fullmatch(said):
        return now - timedelta(**{_UNITS[found[2]]: int(found[1])})
    try:
        at = datetime.fromisoformat(said)
    except ValueError:
        return None
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def shown(record: Record, words: JsonObject | None, language: Language) -> Shown:
    """One line; `--json` has the whole."""
    sealed = kinds.SEALED.say(language) if words is None and record.words else ""
    text = " ".join(part for part in (_facts(record, words), sealed) if part)
    what = kinds.KINDS[record.kind].say(language) if record.kind in kinds.KINDS else record.kind
    return Shown(
        when=f"{record.at:%Y-%m-%d %H:%M:%S}",
        what=what,
        who=record.actor,
        call=f"{(record.task_id or '')[-6:]} {record.call_id or ''}".strip(),
        facts=text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS]}…",
        policy=record.policy_version[:12],
    )


def _facts(record: Record, words: JsonObject | None) -> str:
    """What was said, of which tool, with which arguments, and how it ended."""
    opened = words or {}
    question = opened.get("question")
    args = question.get("args") if isinstance(question, dict) else None
    parts = [
        str(record.data.get("verdict") or ""),
        str(record.data.get("tool") or opened.get("tool") or ""),
        json.dumps(args, ensure_ascii=False) if args else str(opened.get("preview") or ""),
        brief(record.kind, record.data, {name: value for name, value in opened.items() if name != "tool"}),
    ]
    return " ".join(part for part in parts if part)


def lines_table(lines: list[Shown], language: Language) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for heading in texts.COLUMNS:
        table.add_column(heading.say(language), overflow="fold")
    for line in lines:
        cells = (line.when, line.what, line.who, line.call, line.facts, line.policy)
        table.add_row(*(Text(_printable(cell)) for cell in cells))
    return table


def _printable(text: str) -> str:
    """Nothing that moves other text about, or that a terminal would obey."""
    return "".join(sign if sign.isprintable() else "?" for sign in text)
