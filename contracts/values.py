"""The base of everything that crosses a boundary: frozen, and closed to unknown fields."""

from pydantic import BaseModel, ConfigDict, JsonValue

JsonObject = dict[str, JsonValue]


class Value(BaseModel):
    """A frozen value; a field nobody declared is an error, not a guess."""

    model_config = ConfigDict(frozen=True, extra="forbid")
