"""The sections of one role in a policy file."""

import re
from collections.abc import Callable
from typing import TypeVar

from policy.document import Entry
from policy.hosts import HostPattern
from policy.paths import PathPattern
from policy.patterns import CommandPattern
from policy.roles import ApiRules, ApprovalRules, BrowserRules, Choice, CommandRules, Rate

Found = TypeVar("Found")

_ASKS = (
    "true yes on ask always required require approval approval_required require_approval requires_approval human "
    "human_approval confirm manual"
)
_ALLOWS = "false no off allow allowed never none auto not_required"
_DENIES = "deny denied block blocked forbid forbidden"
_CHOICES: dict[str, Choice] = {
    **dict.fromkeys(_ASKS.split(), "ask"),
    **dict.fromkeys(_ALLOWS.split(), "allow"),
    **dict.fromkeys(_DENIES.split(), "deny"),
}
_SECONDS = {
    "s": 1,
    "sec": 1,
    "second": 1,
    "m": 60,
    "min": 60,
    "minute": 60,
    "h": 3_600,
    "hour": 3_600,
    "d": 86_400,
    "day": 86_400,
}
_RATE = re.compile(r"^(\d+)\s*(?:/|per)\s*(s|sec|second|m|min|minute|h|hour|d|day)s?$")
_MONEY = re.compile(r"^(?:[$€£¥]|usd|eur|cny)?\s*(\d+(?:[.,]\d+)?)\s*(?:[$€£¥]|usd|eur|cny)?$", re.IGNORECASE)


def browser_rules(entry: Entry) -> BrowserRules:
    fields = entry.fields(("read", "write", "execute", "blocked", "unlisted"))
    unlisted = fields["unlisted"].text() if "unlisted" in fields else "deny"
    if unlisted not in ("ask", "deny"):
        raise fields["unlisted"].error(f"{unlisted!r} is not possible: write ask or deny")
    return BrowserRules(
        **{name: _each(fields.get(name), HostPattern.parse) for name in ("read", "write", "execute", "blocked")},
        unlisted="ask" if unlisted == "ask" else "deny",
    )


def command_rules(entry: Entry) -> CommandRules:
    """Folders for read and write; programs, or folders of scripts, for execute; both for blocked.

    A program among `read` or `write` grants nothing by itself: what it may touch is said by the folders.
    """
    fields = entry.fields(("read", "write", "execute", "blocked"))
    blocked = _each(fields.get("blocked"), _command_or_path)
    return CommandRules(
        read=_folders(fields.get("read")),
        write=_folders(fields.get("write")),
        execute=_each(fields.get("execute"), _command_or_path),
        blocked=tuple(rule for rule in blocked if isinstance(rule, CommandPattern)),
        blocked_paths=tuple(rule for rule in blocked if isinstance(rule, PathPattern)),
    )


def api_rules(entry: Entry) -> ApiRules:
    fields = entry.fields(("budget_daily", "rate_limit", "scopes"))
    return ApiRules(
        budget_daily=_money(fields["budget_daily"]) if "budget_daily" in fields else None,
        rate_limit=rate(fields["rate_limit"]) if "rate_limit" in fields else None,
        scopes=text_list(fields.get("scopes")),
    )


def approval_rules(entry: Entry | None) -> ApprovalRules:
    """A rule that is left out asks."""
    names = ("data_deletion", "external_communication", "credential_access")
    fields = entry.fields(("spending_over", *names)) if entry else {}
    chosen: dict[str, Choice] = {name: _choice(fields[name]) for name in names if name in fields}
    spending = _money(fields["spending_over"]) if "spending_over" in fields else 0.0
    return ApprovalRules(
        spending_over=spending,
        data_deletion=chosen.get("data_deletion", "ask"),
        external_communication=chosen.get("external_communication", "ask"),
        credential_access=chosen.get("credential_access", "ask"),
    )


def text_list(entry: Entry | None) -> tuple[str, ...]:
    return tuple(item.text() for item in entry.items()) if entry else ()


def rate(entry: Entry) -> Rate:
    """`60/min`, or a bare number a minute."""
    text = entry.text().lower()
    if text.isdigit():
        return Rate(int(text), 60)
    found = _RATE.match(text)
    if found is None:
        raise entry.error(f"{entry.text()!r} is not a rate: write a number and a time, such as 60/min")
    return Rate(int(found[1]), _SECONDS[found[2]])


def _each(entry: Entry | None, read: Callable[[str], Found]) -> tuple[Found, ...]:
    found = []
    for item in entry.items() if entry else ():
        try:
            found.append(read(item.text()))
        except ValueError as error:
            raise item.error(str(error)) from error
    return tuple(found)


def _folders(entry: Entry | None) -> tuple[PathPattern, ...]:
    return tuple(rule for rule in _each(entry, _command_or_path) if isinstance(rule, PathPattern))


def _command_or_path(text: str) -> CommandPattern | PathPattern:
    is_path = text == "." or (text.startswith(("/", "~", "./")) and " " not in text)
    return PathPattern.parse(text) if is_path else CommandPattern.parse(text)


def _choice(entry: Entry) -> Choice:
    text = entry.text().lower()
    if text not in _CHOICES:
        raise entry.error(f"{entry.text()!r} is not possible: write ask, allow or deny")
    return _CHOICES[text]


def _money(entry: Entry) -> float:
    found = _MONEY.match(entry.text())
    if found is None:
        raise entry.error(f"{entry.text()!r} is not an amount of money: write a number, such as 50 or 2.5")
    return float(found[1].replace(",", "."))
