"""The person's own policies in Cedar, read statement by statement, so that a mistake has its line."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from cedarpy import policies_to_json_str, validate_policies

from contracts.values import JsonObject
from policy.cedar.ruleset import CedarRule
from policy.cedar.schema import schema
from policy.document import Entry, PolicyError

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|//[^\n]*|;|"', re.DOTALL)
_PROBLEM = re.compile(r"^for policy `[^`]*`, ")
_QUOTED = re.compile(r"`([^`]+)`")
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,63}")


@dataclass(frozen=True)
class _Statement:
    """One policy, and how many lines of the text come before it."""

    text: str
    before: int


def own_rules(entry: Entry | None, roles: tuple[str, ...], source: str = "cedar") -> tuple[CedarRule, ...]:
    """The rules of the `cedar` block; their ids begin with `source`. Raises: PolicyError with the mistake's line."""
    if entry is None:
        return ()
    found: dict[str, CedarRule] = {}
    for number, statement in enumerate(_statements(entry.whole_text()), start=1):
        rule = _rule(entry, statement, f"{source}/{number}", source, roles)
        if rule.rule_id in found:
            raise _error(entry, statement, f'the id {rule.rule_id!r} is there twice: give each policy its own @id("…")')
        found[rule.rule_id] = rule
    return tuple(found.values())


def _rule(entry: Entry, statement: _Statement, unnamed: str, source: str, roles: tuple[str, ...]) -> CedarRule:
    try:
        parsed = json.loads(policies_to_json_str(statement.text))
    except ValueError as error:
        raise _error(entry, statement, f"not a policy in Cedar: {error}", str(error)) from error
    if parsed["templates"]:
        raise _error(entry, statement, "a template with slots is not read: name the role or person", "?principal")
    body: JsonObject = next(iter(parsed["staticPolicies"].values()))
    for problem in validate_policies(statement.text, schema()).errors:
        said = _PROBLEM.sub("", problem.error)
        raise _error(entry, statement, f"{said}; docs/policy.md lists what there is", said)
    for name in _named_roles(body):
        if name not in roles:
            raise _error(entry, statement, f"the policy has no role {name!r}; it has {', '.join(roles)}", f'"{name}"')
    return _annotated(entry, statement, body, unnamed, source)


def _annotated(entry: Entry, statement: _Statement, body: JsonObject, unnamed: str, source: str) -> CedarRule:
    annotations = body.pop("annotations", {})
    marks = annotations if isinstance(annotations, dict) else {}
    if unknown := set(marks) - {"id", "answer"}:
        raise _error(entry, statement, f"unknown annotation @{min(unknown)}; there are @id and @answer", min(unknown))
    answer = str(marks.get("answer", "deny"))
    if answer not in ("ask", "deny") or ("answer" in marks and body["effect"] != "forbid"):
        raise _error(entry, statement, 'write @answer("ask") or @answer("deny"), and before a forbid alone', "@answer")
    name = str(marks.get("id", ""))
    if name and _ID.fullmatch(name) is None:
        raise _error(entry, statement, f"{name!r} is no id: write letters, digits and _ . : -", name)
    return CedarRule(f"{source}/{name}" if name else unnamed, body, asks=answer == "ask")


def _statements(text: str) -> Iterator[_Statement]:
    """Cut after each semicolon that is neither in a text nor in a remark; what is left over must be empty."""
    start = 0
    for token in _TOKEN.finditer(text):
        if token[0] == ";":
            yield _trimmed(text, start, token.end())
            start = token.end()
    if _without_remarks(text[start:]).strip():
        yield _trimmed(text, start, len(text))


def _trimmed(text: str, start: int, end: int) -> _Statement:
    """Blanks and remarks before a statement belong to nothing."""
    while True:
        blank = re.compile(r"\s+|//[^\n]*").match(text, start, end)
        if blank is None:
            return _Statement(text[start:end], text.count("\n", 0, start))
        start = blank.end()


def _without_remarks(text: str) -> str:
    return re.sub(r"//[^\n]*", "", text)


def _named_roles(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        if value.get("type") == "Role" and "id" in value:
            yield str(value["id"])
        for each in value.values():
            yield from _named_roles(each)
    elif isinstance(value, list):
        for each in value:
            yield from _named_roles(each)


def _error(entry: Entry, statement: _Statement, problem: str, about: str = "") -> PolicyError:
    """The line of what the problem names, if it stands in one line of the statement alone, else its first line."""
    lines = statement.text.split("\n")
    words = _QUOTED.findall(about) or _last_word(about) or [about]
    for word in words:
        at = [number for number, line in enumerate(lines) if word and word in line]
        if len(at) == 1:
            return entry.error_at(statement.before + at[0], problem)
    return entry.error_at(statement.before, problem)


@lru_cache(maxsize=64)
def _last_word(text: str) -> list[str]:
    """Parsers end with the word that they stumbled over: `invalid variable in the policy scope: actn`."""
    return [text.rsplit(": ", 1)[1]] if ": " in text else []
