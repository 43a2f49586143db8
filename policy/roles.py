"""What a policy file says, as values: roles with their permissions and approval rules."""

from dataclasses import dataclass, field
from typing import Literal

from contracts.egress import EgressRules
from contracts.provenance import Effect
from contracts.usage import Ceiling
from policy.cedar.ruleset import RuleSet
from policy.hosts import HostPattern
from policy.paths import PathPattern
from policy.patterns import CommandPattern

Choice = Literal["allow", "ask", "deny"]


@dataclass(frozen=True)
class BrowserRules:
    """Which addresses may be fetched (read), submitted to (write), scripted (execute), and never touched (blocked)."""

    read: tuple[HostPattern, ...] = ()
    write: tuple[HostPattern, ...] = ()
    execute: tuple[HostPattern, ...] = ()
    blocked: tuple[HostPattern, ...] = ()
    unlisted: Literal["ask", "deny"] = "deny"
    """What becomes of a host that no list names; with `ask`, one that the person named is allowed."""


@dataclass(frozen=True)
class CommandRules:
    """Which files commands may read and write, and which code runs although policy cannot look into it."""

    read: tuple[PathPattern, ...] = ()
    write: tuple[PathPattern, ...] = ()
    execute: tuple[CommandPattern | PathPattern, ...] = ()
    blocked: tuple[CommandPattern, ...] = ()
    blocked_paths: tuple[PathPattern, ...] = ()


@dataclass(frozen=True)
class Rate:
    """At most so many in a time."""

    count: int
    seconds: int


@dataclass(frozen=True)
class ApiRules:
    """What calls to paid or foreign APIs may use up."""

    budget_daily: float | None = None
    rate_limit: Rate | None = None
    scopes: tuple[str, ...] | None = None
    """`tool` or `tool.effect`, `*` for any characters; None for every service."""


@dataclass(frozen=True)
class ToolRules:
    """Which tools may be called at all; `*` stands for any characters."""

    allowed: tuple[str, ...] | None = None
    """None for every tool that there is."""
    blocked: tuple[str, ...] = ()


@dataclass(frozen=True)
class ApprovalRules:
    """When a person decides, whatever is permitted. What a file leaves out is asked."""

    spending_over: float = 0.0
    data_deletion: Choice = "ask"
    external_communication: Choice = "ask"
    credential_access: Choice = "ask"
    step_up: tuple[Effect, ...] = ("money", "credential")
    """Effects whose yes needs a second factor."""
    approvers: tuple[str, ...] = ()
    """Who may decide beside the person themselves and the owner; `*` at the end stands for any."""
    account_changes: Choice = "ask"


@dataclass(frozen=True)
class RiskRules:
    """From which risk on a call is asked or denied whatever else permits it, and other points for single parts."""

    ask_at: int | None = None
    deny_at: int | None = None
    points: tuple[tuple[str, int], ...] = ()
    """Name of a part and its points, in place of the usual ones."""
    usual_hours: tuple[int, int] | None = None
    """The person's day, UTC, such as (6, 22); None learns it."""


@dataclass(frozen=True)
class SandboxRules:
    """What is wanted of sandboxes; None is not said."""

    runtime: str | None = None
    """Name of an OCI runtime; empty takes any."""
    runtime_for: tuple[str, ...] | None = None
    """Effects and tools that the runtime is wanted for; none of them means every call."""
    snapshot_before: tuple[str, ...] | None = None
    retention_days: float | None = None
    users: tuple[tuple[str, "SandboxRules"], ...] = ()

    def over(self, other: "SandboxRules") -> "SandboxRules":
        """What is said here, and where it is silent what the other says. Who names a runtime says for which calls."""
        named = self if self.runtime is not None else other
        return SandboxRules(
            runtime=named.runtime,
            runtime_for=self.runtime_for if self.runtime_for is not None else named.runtime_for,
            snapshot_before=other.snapshot_before if self.snapshot_before is None else self.snapshot_before,
            retention_days=other.retention_days if self.retention_days is None else self.retention_days,
            users=other.users,
        )


@dataclass(frozen=True)
class Role:
    """One role; a part of the permissions that the file leaves out is not permitted at all."""

    name: str
    browser: BrowserRules | None = None
    cli: CommandRules | None = None
    api: ApiRules | None = None
    approvals: ApprovalRules = ApprovalRules()
    senders: tuple[str, ...] = ()
    """Who has this role, as `<channel>:<id>`; `*` at the end stands for any."""
    sandbox: SandboxRules = SandboxRules()
    ceilings: tuple[Ceiling, ...] = ()
    """Budgets and rates of each person with this role."""
    risk: RiskRules = RiskRules()
    tools: ToolRules = ToolRules()
    narrowed: tuple["Role", ...] = ()
    """This role as files see it that may only tighten: what they permit as well is permitted."""


@dataclass(frozen=True)
class Policy:
    """All roles of one file, and what holds for everybody's sandboxes; `version` is the digest of its text."""

    version: str
    roles: dict[str, Role] = field(default_factory=dict)
    egress: EgressRules = field(default_factory=EgressRules)
    rules: RuleSet = field(default_factory=RuleSet)
    """What grants effects and tools; without any of them nothing is permitted."""
    blocked_senders: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    """What files that may only tighten asked for in vain."""
    overlays: int = 0
    """How many such files lie over the person's own."""

    def blocks(self, sender: str) -> bool:
        """Whether this sender, as `<channel>:<id>`, may do nothing at all, however they were paired."""
        return any(names(pattern, sender) for pattern in self.blocked_senders)

    def role_for(self, sender: str, otherwise: str) -> str:
        """The role that the file gives to the sender, else the one that they came with."""
        return self.role_of(sender) or otherwise

    def role_of(self, sender: str) -> str | None:
        """The name of the first role that lists the sender, written as `<channel>:<id>`."""
        for role in self.roles.values():
            if any(names(pattern, sender) for pattern in role.senders):
                return role.name
        return None


def names(pattern: str, sender: str) -> bool:
    """Whether a pattern of a policy file means this sender."""
    return sender.startswith(pattern[:-1]) if pattern.endswith("*") else sender == pattern
