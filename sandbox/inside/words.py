"""JSON without the json module, whose import takes longer than the rest of the start: 7 ms, 23 under gVisor."""

from __future__ import annotations

from _json import encode_basestring_ascii

TYPE_CHECKING = False  # as in typing, whose import takes 31 ms under gVisor
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Plain = None | bool | int | float | str | Sequence["Plain"] | Mapping[str, "Plain"]


def said(value: Plain) -> str:
    """The value as JSON."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, str):
        return str(encode_basestring_ascii(value))
    if isinstance(value, dict):
        return "{" + ",".join(f"{said(name)}:{said(one)}" for name, one in value.items()) + "}"
    return "[" + ",".join(map(said, value)) + "]"
