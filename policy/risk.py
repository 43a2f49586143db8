"""One number for how much could go wrong, as a sum that anybody can follow."""

from collections.abc import Iterable

from contracts.provenance import Effect
from policy.findings import Level

_WEIGHTS: dict[Effect, int] = {
    "read": 1,
    "write": 5,
    "execute": 5,
    "egress": 8,
    "send": 15,
    "share": 15,
    "account": 20,
    "delete": 15,
    "credential": 25,
    "money": 30,
}
_ASKED = 30
"""A rule wants a person to look."""
_TAINTED = 10
"""The task has read what strangers wrote."""
_UNTRUSTED = 20
"""The arguments themselves come from there."""


def risk_of(level: Level, effects: Iterable[Effect], *, tainted: bool, trusted: bool) -> int:
    """0 to 100: the effects, what the task has read, and the level; 100 for what is never done."""
    if level is Level.DENY:
        return 100
    total = sum(_WEIGHTS[effect] for effect in set(effects))
    total += _ASKED * (level is Level.ASK) + _TAINTED * tainted + _UNTRUSTED * (not trusted)
    return min(total, 99)
