"""The section `risk` of a policy file: when a risk is asked or denied, and what its parts weigh."""

import re

from policy.document import Entry
from policy.risk_parts import NAMES
from policy.roles import RiskRules

_KEYS = ("ask_at", "deny_at", "points", "usual_hours")
_HOURS = re.compile(r"^(\d{1,2})(?::00)?\s*(?:-|–|to)\s*(\d{1,2})(?::00)?$", re.ASCII)


def risk_rules(own: Entry | None, common: Entry | None) -> RiskRules:
    """Of one role: what its own section says wins over the one for all roles. Raises: PolicyError."""
    theirs, mine = (entry.fields(_KEYS) if entry else {} for entry in (common, own))
    fields = {**theirs, **mine}
    points = {**_points(theirs.get("points")), **_points(mine.get("points"))}
    ask_at, deny_at = (_score(fields[name]) if name in fields else None for name in ("ask_at", "deny_at"))
    if ask_at is not None and deny_at is not None and deny_at < ask_at:
        raise fields["deny_at"].error(f"{deny_at} is below ask_at, {ask_at}: nothing would ever be asked")
    hours = _hours(fields["usual_hours"]) if "usual_hours" in fields else None
    return RiskRules(ask_at=ask_at, deny_at=deny_at, points=tuple(points.items()), usual_hours=hours)


def _points(entry: Entry | None) -> dict[str, int]:
    return {name: _score(found) for name, found in (entry.fields(NAMES) if entry else {}).items()}


def _score(entry: Entry) -> int:
    text = entry.text()
    if not (text.isascii() and text.isdigit() and int(text[:4]) <= 100):
        raise entry.error(f"{text!r} is no risk: write a whole number from 0 to 100")
    return int(text)


def _hours(entry: Entry) -> tuple[int, int]:
    """`6-22`, or a list of two; UTC."""
    items = entry.items()
    text = "-".join(item.text() for item in items) if len(items) == 2 else entry.text()
    found = _HOURS.match(text)
    first, last = (int(found[1]), int(found[2])) if found else (24, 25)
    if first > 23 or last > 24 or first == last:
        raise entry.error(f"{text!r} are no hours: write the first and the last of the day in UTC, such as 6-22")
    return first, last
