"""Which effects the person asked for with their own words, in English and Chinese."""

from collections.abc import Iterable

from contracts.provenance import Effect


def spoken_effects(words: Iterable[str]) -> tuple[Effect, ...]:
    """Of all messages of the person in this task; `words` are their texts."""
    raise NotImplementedError
