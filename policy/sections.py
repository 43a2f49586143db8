"""The sections of one role in a policy file."""

import re
from collections.abc import Callable
from typing import TypeVar, get_args

from contracts.provenance import Effect
from policy.document import Entry
from policy.hosts import HostPattern
from policy.paths import PathPattern
from policy.patterns import CommandPattern
from policy.roles import ApiRules, ApprovalRules, BrowserRules, Choice, CommandRules, Rate, ToolRules

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
_RATE = re.compile(r"^(\d{1,9})\s*(?:/|per)\s*(s|sec|second|m|min|minute|h|hour|d|day)s?$", re.ASCII)
_EFFECTS: tuple[Effect, ...] = get_args(Effect)
_TOOL = re.compile(r"[a-z*][a-z0-9_*]{0,63}")
_SENDER = re.compile(r"[a-z][a-z0-9_-]*:(?:[^\s*]+\*?|\*)|\*")
_NONE = ("none", "never", "no", "false", "off")
_MONEY = re.compile(r"^(?:[$€£¥]|usd|eur|cny)?\s*([0-9]{1,15}(?:[.,][0-9]+)?)\s*(?:[$€£¥]|usd|eur|cny)?$", re.I)


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
        scopes=_scopes(fields["scopes"]) if "scopes" in fields else None,
    )


def tool_rules(entry: Entry) -> ToolRules:
    """Which tools may be called, by name; a `*` stands for any characters."""
    fields = entry.fields(("allowed", "blocked"))
    return ToolRules(
        allowed=_tools(fields["allowed"]) if "allowed" in fields else None,
        blocked=_tools(fields["blocked"]) if "blocked" in fields else (),
    )


def approval_rules(entry: Entry | None) -> ApprovalRules:
    """A rule that is left out asks."""
    names = ("data_deletion", "external_communication", "credential_access", "account_changes")
    fields = entry.fields(("spending_over", *names, "step_up", "approvers")) if entry else {}
    chosen: dict[str, Choice] = {name: _choice(fields[name]) for name in names if name in fields}
    spending = _money(fields["spending_over"]) if "spending_over" in fields else 0.0
    return ApprovalRules(
        spending_over=spending,
        data_deletion=chosen.get("data_deletion", "ask"),
        external_communication=chosen.get("external_communication", "ask"),
        credential_access=chosen.get("credential_access", "ask"),
        account_changes=chosen.get("account_changes", "ask"),
        step_up=_effects(fields["step_up"]) if "step_up" in fields else ApprovalRules().step_up,
        approvers=senders(fields.get("approvers")),
    )


def text_list(entry: Entry | None) -> tuple[str, ...]:
    return tuple(item.text() for item in entry.items()) if entry else ()


def senders(entry: Entry | None) -> tuple[str, ...]:
    """`<channel>:<id>`; a `*` at the end stands for any."""
    found = []
    for item in entry.items() if entry else ():
        if _SENDER.fullmatch(item.text()) is None:
            raise item.error(f"{item.text()!r} is no sender: write <channel>:<id>, such as telegram:7 or telegram:*")
        found.append(item.text())
    return tuple(found)


def rate(entry: Entry) -> Rate:
    """`60/min`, or a bare number a minute."""
    text = entry.text().lower()
    if text.isascii() and text.isdigit() and len(text) < 10:
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


def _effects(entry: Entry) -> tuple[Effect, ...]:
    """Names of effects, or `none`."""
    named: list[Effect] = []
    for item in entry.items():
        text = item.text().lower()
        if text in _NONE and len(entry.items()) == 1:
            return ()
        known = [effect for effect in _EFFECTS if effect == text]
        if not known:
            raise item.error(f"{item.text()!r} is no effect: write none, or some of {', '.join(_EFFECTS)}")
        named += known
    return tuple(dict.fromkeys(named))


def _tools(entry: Entry) -> tuple[str, ...]:
    found = []
    for item in entry.items():
        if _TOOL.fullmatch(item.text()) is None:
            raise item.error(f"{item.text()!r} is no tool: write a name such as shell, with * for any characters")
        found.append(item.text())
    return tuple(found)


def _scopes(entry: Entry) -> tuple[str, ...]:
    """`tool` or `tool.effect`."""
    found = []
    for item in entry.items():
        tool, dot, effect = item.text().partition(".")
        if _TOOL.fullmatch(tool) is None or (dot and effect not in ("*", *_EFFECTS)):
            known = ", ".join(_EFFECTS)
            raise item.error(f"{item.text()!r} is no scope: write a tool, or tool.effect with one of {known}")
        found.append(item.text())
    return tuple(found)


def _money(entry: Entry) -> float:
    found = _MONEY.match(entry.text())
    if found is None:
        raise entry.error(f"{entry.text()!r} is not an amount of money: write a number, such as 50 or 2.5")
    return float(found[1].replace(",", "."))
