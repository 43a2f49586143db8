"""Conditions of steps: `steps.check.exit_code == 0`, `inputs.mode != "fast"`, `not steps.look.text`."""

import json
import re

from pydantic import JsonValue

from activities.playbook.model import Condition
from activities.playbook.references import Known, as_text, parse

_COMPARISON = re.compile(r"(?P<reference>[^=!<>]+?)\s*(?P<operator>==|!=)\s*(?P<value>.+)", re.DOTALL)
_BRACES = re.compile(r"\{\{\s*(.*?)\s*\}\}", re.DOTALL)


class BadCondition(Exception):
    """Raised when a condition is neither a reference nor a comparison with a value; the text quotes it."""


def condition(text: str) -> Condition:
    """Braces around the reference may be left out. Raises: BadCondition, BadReference."""
    bare = _BRACES.sub(r"\1", text).strip()
    compared = _COMPARISON.fullmatch(bare)
    if compared:
        reference = compared["reference"].strip()
        parse(reference)
        return Condition(reference, compared["operator"] == "!=", _literal(compared["value"].strip()), compares=True)
    negated = bare.startswith("not ")
    reference = bare.removeprefix("not ").strip()
    parse(reference)
    return Condition(reference, negated)


def holds(wanted: Condition, known: Known) -> bool:
    """Raises: Unresolved."""
    value = known.value_of(parse(wanted.reference))
    if not wanted.compares:
        return bool(value) != wanted.negated
    return _equal(value, wanted.equals) != wanted.negated


def _equal(value: JsonValue, other: JsonValue) -> bool:
    return value == other if type(value) is type(other) else as_text(value).strip() == as_text(other)


def _literal(text: str) -> JsonValue:
    if text.startswith("'") and text.endswith("'") and len(text) > 1:
        return text[1:-1]
    try:
        value: JsonValue = json.loads(text)
    except ValueError:
        if re.fullmatch(r"[\w.-]+", text):
            return text
        raise BadCondition(text) from None
    return value
