"""The paths that a command names, and where they lead once somebody has followed their links."""

import posixpath
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from policy.globs import is_glob, overlaps, segments
from policy.paths import resolve

NOTHING_REAL: Mapping[str, str] = MappingProxyType({})
"""No link is known."""


@dataclass
class Touches:
    """Paths in the order found, by what they are named for. One with `..` in it stays as it is written: where that
    leads depends on the links before it."""

    reads: dict[str, None] = field(default_factory=dict)
    writes: dict[str, None] = field(default_factory=dict)
    removes: dict[str, None] = field(default_factory=dict)
    """Names that cease to be: a link among them is removed itself, and what it leads to stays."""
    runs: dict[str, None] = field(default_factory=dict)
    sends: dict[str, None] = field(default_factory=dict)


def as_walked(path: str) -> str:
    """An absolute path without blank steps; `..` stays, since the kernel takes it from where a link has led."""
    return "/" + "/".join(part for part in path.split("/") if part not in ("", "."))


def leads(walked: str, real: Mapping[str, str]) -> Iterator[str]:
    """Where a path leads by what is known of links; one with wildcards may lead to several places."""
    spelled = segments(as_walked(walked))
    for path, target in real.items():
        parts = segments(path)
        if parts == spelled or (is_glob(walked) and overlaps(spelled[: len(parts)], parts)):
            yield resolve(posixpath.join(target, *spelled[len(parts) :]), "/")
