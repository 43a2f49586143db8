"""The arguments of a tool as a typed model: its JSON schema for planners, and the way from loose JSON to the model."""

import json
from typing import TypeVar

from pydantic import ValidationError

from activities.tool import BadArguments
from contracts.values import JsonObject, Value

A = TypeVar("A", bound=Value)

SHOWN_VALUE_CHARACTERS = 120


def schema_of(shape: type[Value]) -> JsonObject:
    """The JSON schema (draft 2020-12) of a flat model, without the titles that only cost a model's tokens."""
    schema: JsonObject = shape.model_json_schema()
    properties = schema.get("properties")
    fields = properties if isinstance(properties, dict) else {}
    return {
        "type": "object",
        "properties": {name: _untitled(field) for name, field in fields.items() if isinstance(field, dict)},
        "required": schema.get("required", []),
        "additionalProperties": False,
    }


def parse(shape: type[A], args: JsonObject) -> A:
    """Raises: BadArguments."""
    try:
        return shape.model_validate_json(json.dumps(args), strict=True)
    except ValidationError as error:
        raise BadArguments("; ".join(_told(one["loc"], one["msg"], one["input"]) for one in error.errors())) from None


def shown_value(value: object) -> str:
    """A value short enough for an error text, and plain ASCII, whatever it holds."""
    text = ascii(value)
    return text if len(text) <= SHOWN_VALUE_CHARACTERS else text[:SHOWN_VALUE_CHARACTERS] + "…"


def _told(place: tuple[int | str, ...], expected: str, value: object) -> str:
    name = ".".join(str(part) for part in place) or "arguments"
    return f"{name}: {expected} (it is {shown_value(value)})"


def _untitled(field: JsonObject) -> JsonObject:
    return {name: value for name, value in field.items() if name != "title"}
