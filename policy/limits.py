"""Budgets and rates in a policy file: at most so much of a kind in a task, a minute, an hour or a day."""

import re
from typing import get_args

from contracts.usage import Ceiling, Span, UsageKind
from policy.document import Entry
from policy.roles import ApiRules, Rate

KINDS: tuple[UsageKind, ...] = get_args(UsageKind)
SPANS: tuple[Span, ...] = get_args(Span)

_AMOUNT = re.compile(r"^[$€£¥]?\s*([0-9]{1,15}(?:[.,][0-9]+)?)\s*(k|m)?$", re.IGNORECASE)
_THOUSANDS = {"": 1.0, "k": 1e3, "m": 1e6}
_MINUTE = 60


def ceilings(own: Entry | None, common: Entry | None, api: ApiRules | None) -> tuple[Ceiling, ...]:
    """Of one role: its own section wins over the one for all roles, kind by kind and span by span; what the section
    `api` says holds beside it, the lower number of the two. Raises: PolicyError."""
    found = {(ceiling.kind, ceiling.span): ceiling for entry in (common, own) for ceiling in _section(entry)}
    for ceiling in _of_api(api):
        key = (ceiling.kind, ceiling.span)
        if key not in found or ceiling.most < found[key].most:
            found[key] = ceiling
    return tuple(found.values())


def _section(entry: Entry | None) -> list[Ceiling]:
    kinds = entry.fields(KINDS) if entry else {}
    return [_ceiling(kind, each) for kind in KINDS if kind in kinds for each in _spans(kinds[kind])]


def _spans(entry: Entry) -> list[tuple[Span, Entry]]:
    """`{task: 1, day: 5}`, or `5/day`, or a list of these."""
    if entry.is_mapping:
        fields = entry.fields(SPANS)
        return [(span, fields[span]) for span in SPANS if span in fields]
    return [(_span(item), item) for item in entry.items()]


def _span(entry: Entry) -> Span:
    after = re.split(r"\s*(?:/|\bper\b)\s*", entry.text().lower())[-1]
    for span in SPANS:
        if after in (span, f"{span}s", *(("min",) if span == "minute" else ())):
            return span
    raise entry.error(f"{entry.text()!r} has no time: write a number and one of {', '.join(SPANS)}, such as 5/day")


def _ceiling(kind: UsageKind, found: tuple[Span, Entry]) -> Ceiling:
    span, entry = found
    text = re.split(r"\s*(?:/|\bper\b)\s*", entry.text())[0]
    amount = _AMOUNT.match(text.strip())
    if amount is None:
        raise entry.error(f"{entry.text()!r} is not an amount: write a number, such as 5 or 200k")
    number = float(amount[1].replace(",", "."))
    return Ceiling(kind=kind, span=span, most=number * _THOUSANDS[(amount[2] or "").lower()])


def _of_api(api: ApiRules | None) -> list[Ceiling]:
    found = []
    if api is not None and api.budget_daily is not None:
        found.append(Ceiling(kind="money", span="day", most=api.budget_daily))
    if api is not None and api.rate_limit is not None:
        found.append(_of_rate(api.rate_limit))
    return found


def _of_rate(rate: Rate) -> Ceiling:
    """So many a second is counted by the minute."""
    spans: dict[int, Span] = {_MINUTE: "minute", 3_600: "hour", 86_400: "day"}
    factor = 1 if rate.seconds in spans else _MINUTE // rate.seconds
    return Ceiling(kind="requests", span=spans[rate.seconds * factor], most=rate.count * factor)
