"""Questions that policy was asked before, as the audit log has them: read from its file, and nothing is changed."""

import json
import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import datetime
from pathlib import Path

from pydantic import ConfigDict, Field, ValidationError

from audit.storage import StorageUnusable
from contracts.values import JsonObject, Value
from contracts.verdicts import Question, Reason, RiskPart

KIND = "verdict"
_ALL = "SELECT body FROM records ORDER BY sequence"
_OF_TASK = "SELECT body FROM records WHERE task_id = ? ORDER BY sequence"
_STEP = re.compile(r"^(\d+)\.")

Unseal = Callable[[str], str]


class NoSuchTask(Exception):
    """Raised when no task, or more than one, has that name; the text says which."""


class Recorded(Value):
    """One question, what was said to it, and why. The question is None where its words cannot be opened or read."""

    sequence: int
    at: datetime
    task_id: str
    call_id: str
    tool: str = ""
    verdict: str
    reasons: tuple[Reason, ...] = ()
    rules: tuple[str, ...] = ()
    risk: int = 0
    risk_parts: tuple[RiskPart, ...] = ()
    policy_version: str = ""
    question: Question | None = None
    problem: str = ""
    """Why there is no question."""

    @property
    def step(self) -> str:
        found = _STEP.match(self.call_id)
        return found[1] if found else self.call_id


class _Line(Value):
    """A record as it is stored; what other kinds have is passed over."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    sequence: int
    at: datetime
    kind: str
    task_id: str | None = None
    call_id: str | None = None
    policy_version: str = ""
    data: JsonObject = Field(default_factory=dict)
    words: str = ""


def recorded(
    database: Path, unseal: Unseal, *, task_id: str | None = None, since: datetime | None = None
) -> Iterator[Recorded]:
    """Oldest first. Raises: StorageUnusable, ValidationError for a damaged record."""
    for (body,) in _rows(database, _ALL) if task_id is None else _rows(database, _OF_TASK, task_id):
        line = _Line.model_validate_json(str(body))
        if line.kind == KIND and line.task_id is not None and (since is None or line.at >= since):
            yield _recorded(line, unseal)


def task_named(database: Path, part: str) -> str:
    """The one task whose id begins or ends with this, or the latest one for `last`.

    Raises: StorageUnusable, NoSuchTask.
    """
    query = "SELECT task_id, MAX(sequence) FROM records WHERE task_id IS NOT NULL GROUP BY task_id ORDER BY 2"
    known = [str(row[0]) for row in _rows(database, query)]
    wanted = part.lower()
    found = known[-1:] if wanted == "last" else [each for each in known if _fits(each.lower(), wanted)]
    if not found:
        raise NoSuchTask(f"the audit log knows no task {part!r}; `asos tasks` lists them")
    if len(found) > 1:
        raise NoSuchTask(f"{part!r} fits {len(found)} tasks: {', '.join(found[:5])}; write more of the id")
    return found[0]


def _fits(task_id: str, wanted: str) -> bool:
    return bool(wanted) and (task_id.startswith(wanted) or task_id.endswith(wanted))


def _recorded(line: _Line, unseal: Unseal) -> Recorded:
    words, problem = _opened(line.words, unseal)
    question, trouble = _question(words.get("question"))
    facts = {**line.data, **{name: words[name] for name in ("reasons", "risk_parts", "tool") if words.get(name)}}
    return Recorded.model_validate(
        {
            "sequence": line.sequence,
            "at": line.at,
            "task_id": line.task_id,
            "call_id": line.call_id or "",
            "tool": question.tool if question else str(facts.get("tool") or ""),
            "verdict": facts.get("verdict", ""),
            "reasons": facts.get("reasons", []),
            "rules": facts.get("rules", []),
            "risk": facts.get("risk", 0),
            "risk_parts": _parts(facts.get("risk_parts", [])),
            "policy_version": line.policy_version or facts.get("policy_version", ""),
            "question": question,
            "problem": problem or trouble,
        }
    )


def _opened(box: str, unseal: Unseal) -> tuple[JsonObject, str]:
    if not box:
        return {}, "its words were not kept"
    try:
        words = json.loads(unseal(box))
    except ValueError as error:
        return {}, f"its words cannot be opened: {error}"
    return (words, "") if isinstance(words, dict) else ({}, "its words are of another shape")


def _question(found: object) -> tuple[Question | None, str]:
    if found is None:
        return None, "policy was not asked: the call was not understood"
    try:
        return Question.model_validate(found), ""
    except ValidationError as error:
        return None, f"it was asked in a shape that is no longer known: {error.errors()[0]['msg']}"


def _parts(found: object) -> object:
    """Names and points lie open; with their details they are among the words."""
    return [{"name": name, "points": points} for name, points in found.items()] if isinstance(found, dict) else found


def _rows(database: Path, query: str, *values: str) -> Iterator[tuple[object, ...]]:
    if not database.exists():
        raise StorageUnusable(f"{database} is not there: nothing has been recorded yet")
    try:
        with closing(sqlite3.connect(f"{database.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            yield from connection.execute(query, values)
    except sqlite3.Error as error:
        raise StorageUnusable(f"cannot read {database}: {error}") from error
