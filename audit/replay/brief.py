"""The facts of an audit line that a person reads first, on one line."""

from pydantic import JsonValue

from contracts.values import JsonObject

MOST_CHARACTERS = 200

_ELSEWHERE = frozenset(
    {
        "tool",
        "args_sha256",
        "result_sha256",
        "result_bytes",
        "place",
        "event",
        "preview",
        "summary",
        "problem",
        "verdict",
    }
)
"""Shown in another place, or of use to programs only."""


def brief(kind: str, data: JsonObject, words: JsonObject | None) -> str:
    """Numbers and short texts; nested facts are left to who reads the JSON."""
    facts: JsonObject = {**data, **(words or {})}
    if kind == "egress":
        return _request(facts)
    shown = [
        f"{name.replace('_', ' ')}: {text}"
        for name, value in facts.items()
        if name not in _ELSEWHERE and (text := short(value))
    ]
    return ", ".join(shown)


def short(value: JsonValue) -> str:
    """A number or a short text, or a list of them; nothing of what is empty, long or nested."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.3g}"
    if isinstance(value, list):
        texts = [short(each) for each in value]
        text = ", ".join(texts) if all(texts) else ""
    else:
        text = str(value) if isinstance(value, str | int) else ""
    return text if len(text) <= MOST_CHARACTERS else ""


def _request(facts: JsonObject) -> str:
    """As `POST example.org:443/path 200, 467 up, 46 down`."""
    target = f"{facts.get('method')} {facts.get('host')}:{facts.get('port')}{facts.get('path') or ''}"
    if not facts.get("allowed"):
        return f"{target} {facts.get('reason')}"
    return f"{target} {facts.get('status') or ''}, {facts.get('bytes_up')} up, {facts.get('bytes_down')} down"
