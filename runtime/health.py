"""What a process tells of itself to whoever looks after it."""

from collections.abc import Callable

from pydantic import Field

from contracts.values import JsonObject, Value


class Health(Value):
    """Whether a process does its work, with what a person may want to know."""

    healthy: bool
    detail: JsonObject = Field(default_factory=dict)


Report = Callable[[], Health]
"""Asked at every request, on the event loop: it must answer at once."""
