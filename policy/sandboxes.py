"""What a policy file wants of sandboxes: which runtime, when their state is saved first, and how long it is kept."""

import re
from dataclasses import dataclass, replace
from typing import get_args

from contracts.provenance import Effect
from contracts.verdicts import Ask, Question, Verdict
from policy.document import Entry
from policy.roles import Policy, SandboxRules, names

GVISOR, ANY = "gvisor", "any"
RUNTIMES = {GVISOR: "runsc", ANY: ""}
_RUNTIME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_TOOL = re.compile(r"tool:([a-z][a-z0-9_]*)")
_KEYS = ("runtime", "runtime_for", "snapshot_before", "retention_days")
_EFFECTS: tuple[str, ...] = get_args(Effect)
_MOMENTS = ("approval", "step")
MOST_DAYS = 3_650.0


@dataclass(frozen=True)
class Wanted:
    """What one call needs of its sandbox."""

    runtime: str | None = None
    """The name of an OCI runtime; None takes any."""
    snapshot: bool = False
    retention_days: float | None = None


def wanted(question: Question, verdict: Verdict, policy: Policy) -> Wanted:
    """Pure, as the verdict is. A role that the policy does not know wants nothing: it may do nothing either."""
    role = policy.roles.get(policy.role_for(question.actor.user_id, question.actor.role))
    if role is None:
        return Wanted()
    rules = rules_for(role.sandbox, question.actor.user_id)
    words = {*verdict.effects, f"tool:{question.tool}"}
    moments = {*words, "step", *(("approval",) if isinstance(verdict, Ask) else ())}
    demanded = rules.runtime if not rules.runtime_for or words & {*rules.runtime_for} else ""
    return Wanted(demanded or None, bool(moments & {*(rules.snapshot_before or ())}), rules.retention_days)


def rules_for(rules: SandboxRules, user_id: str) -> SandboxRules:
    """With what is said for this user alone; the first entry that names them counts."""
    for pattern, own in rules.users:
        if names(pattern, user_id):
            return own.over(rules)
    return rules


def sandbox_rules(entry: Entry | None, common: SandboxRules) -> SandboxRules:
    """A role's section; what it leaves out is taken from the section for all roles. Raises: PolicyError."""
    if entry is None:
        return common
    fields = entry.fields((*_KEYS, "users"))
    users = tuple(_user(item) for item in fields["users"].items()) if "users" in fields else None
    found = _rules({name: field for name, field in fields.items() if name != "users"}).over(common)
    return replace(found, users=common.users if users is None else users)


def _user(entry: Entry) -> tuple[str, SandboxRules]:
    fields = entry.fields(("user", *_KEYS))
    if "user" not in fields:
        raise entry.error("no `user`: name one as `<channel>:<id>`, such as `telegram:7` or `telegram:*`")
    return fields["user"].text(), _rules({name: field for name, field in fields.items() if name != "user"})


def _rules(fields: dict[str, Entry]) -> SandboxRules:
    return SandboxRules(
        runtime=_runtime(fields["runtime"]) if "runtime" in fields else None,
        runtime_for=_words(fields["runtime_for"], ()) if "runtime_for" in fields else None,
        snapshot_before=_words(fields["snapshot_before"], _MOMENTS) if "snapshot_before" in fields else None,
        retention_days=_days(fields["retention_days"]) if "retention_days" in fields else None,
    )


def _runtime(entry: Entry) -> str:
    text = entry.text()
    if _RUNTIME.fullmatch(text) is None:
        raise entry.error(f"{text!r} is no runtime: write gvisor, any, or the name of an OCI runtime such as kata")
    return RUNTIMES.get(text.lower(), text)


def _words(entry: Entry, more: tuple[str, ...]) -> tuple[str, ...]:
    found = []
    for item in entry.items():
        text = item.text()
        if text not in (*_EFFECTS, *more) and _TOOL.fullmatch(text) is None:
            known = ", ".join((*more, *_EFFECTS))
            raise item.error(f"{text!r} is not known: write tool:NAME, such as tool:shell, or one of {known}")
        found.append(text)
    return tuple(found)


def _days(entry: Entry) -> float:
    try:
        days = float(entry.text())
    except ValueError:
        days = 0.0
    if not 0 < days <= MOST_DAYS:
        raise entry.error(f"{entry.text()!r} is no number of days: write one above 0, at most {MOST_DAYS:g}")
    return days
