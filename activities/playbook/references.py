"""References such as `{{ steps.open.title }}`: find them, and put values in, once and never again."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from pydantic import JsonValue

from activities.planners.summary import excerpt, summarise
from contracts.tools import ToolResult, canonical_json
from contracts.values import JsonObject

_BRACES = re.compile(r"\{\{\s*([A-Za-z_][^{}]*?)\s*\}\}")
_REFERENCE = re.compile(
    r"(?P<source>steps|inputs)\.(?P<name>[A-Za-z][A-Za-z0-9_-]*)(?:\.(?P<field>[A-Za-z_][A-Za-z0-9_]*))?"
    r"(?:\s*\|\s*(?P<filter>[a-z]+))?"
)
FILTERS: Mapping[str, Callable[[str], str]] = {"summary": summarise, "excerpt": excerpt}


class BadReference(Exception):
    """Raised when the text between braces is no reference; the text quotes it."""


class Unresolved(Exception):
    """Raised when a reference is sound and there is no value for it; the text names the reference."""


@dataclass(frozen=True)
class Reference:
    """One place whose value comes from elsewhere."""

    source: str
    """`steps` or `inputs`."""
    name: str
    field: str = "text"
    filter: str = ""


@dataclass(frozen=True)
class Known:
    """The values there are by now."""

    inputs: Mapping[str, str] = field(default_factory=dict)
    results: Mapping[str, ToolResult] = field(default_factory=dict)
    """By step id; only of steps that succeeded."""
    answers: Mapping[str, str] = field(default_factory=dict)
    """The person's words by the id of the step that asked for them."""

    def value_of(self, reference: Reference) -> JsonValue:
        """Raises: Unresolved."""
        value = self._plain(reference)
        if not reference.filter:
            return value
        filtered = FILTERS[reference.filter](as_text(value))
        if not filtered:
            raise Unresolved(f"{reference.source}.{reference.name}.{reference.field} | {reference.filter}")
        return filtered

    def _plain(self, reference: Reference) -> JsonValue:
        if reference.source == "inputs" and reference.name in self.inputs:
            return self.inputs[reference.name]
        if reference.name in self.answers and reference.source == "steps":
            return self.answers[reference.name]
        result = self.results.get(reference.name) if reference.source == "steps" else None
        if result is not None and reference.field in result.data:
            return result.data[reference.field]
        if result is not None and reference.field == "text":
            return result.text
        raise Unresolved(f"{reference.source}.{reference.name}.{reference.field}")


def parse(text: str) -> Reference:
    """Read what stands between the braces. Raises: BadReference."""
    found = _REFERENCE.fullmatch(text.strip())
    if found is None or (found["source"] == "inputs" and found["field"]):
        raise BadReference(text)
    if found["filter"] and found["filter"] not in FILTERS:
        raise BadReference(text)
    return Reference(found["source"], found["name"], found["field"] or "text", found["filter"] or "")


def spans(text: str) -> Iterator[tuple[int, int, Reference]]:
    """Where references stand. Braces that hold no word, as in `{{.Names}}`, are none. Raises: BadReference."""
    for found in _BRACES.finditer(text):
        yield found.start(), found.end(), parse(found[1])


def references_in(value: JsonValue) -> Iterator[Reference]:
    """All references of a tree of arguments. Raises: BadReference."""
    if isinstance(value, str):
        yield from (reference for _, _, reference in spans(value))
    elif isinstance(value, list):
        for item in value:
            yield from references_in(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from references_in(item)


def fill(value: JsonValue, known: Known) -> JsonValue:
    """Put values in. A string that is one reference keeps the value's type; what is put in is not read again.

    Raises: Unresolved.
    """
    if isinstance(value, str):
        return _fill_text(value, known)
    if isinstance(value, list):
        return [fill(item, known) for item in value]
    if isinstance(value, dict):
        return fill_object(value, known)
    return value


def fill_object(args: JsonObject, known: Known) -> JsonObject:
    """`fill` for arguments. Raises: Unresolved."""
    return {name: fill(item, known) for name, item in args.items()}


def as_text(value: JsonValue) -> str:
    """How a value looks inside a longer text."""
    if isinstance(value, str):
        return value
    return canonical_json(value) if isinstance(value, dict) else "" if value is None else _scalar_or_list(value)


def _scalar_or_list(value: JsonValue) -> str:
    if isinstance(value, list):
        return "\n".join(as_text(item) for item in value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def _fill_text(text: str, known: Known) -> JsonValue:
    found = list(spans(text))
    if len(found) == 1 and found[0][:2] == (0, len(text)):
        return known.value_of(found[0][2])
    parts: list[str] = []
    at = 0
    for start, end, reference in found:
        parts += [text[at:start], as_text(known.value_of(reference))]
        at = end
    return "".join([*parts, text[at:]])
