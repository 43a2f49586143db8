"""Take each argument of a call to where it came from."""

from collections.abc import Sequence

from contracts.provenance import Source, ToolLabels, Traced
from contracts.values import JsonObject


class Sources:
    """All that the planner has seen, made ready once and asked for many values."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self.sources = tuple(sources)


def trace(args: JsonObject, labels: ToolLabels, sources: Sources) -> tuple[Traced, ...]:
    """Every single value in the arguments, with how it came about. Pure."""
    raise NotImplementedError
