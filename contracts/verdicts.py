"""What policy is asked and what it answers: Allow, Ask or Deny, the strictest wins."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from contracts.approvals import Shape, StandingRule
from contracts.messages import HostGrant
from contracts.provenance import Effect, Provenance, ToolLabels, Traced
from contracts.usage import Exceeded, Habits
from contracts.values import JsonObject, Value


class CommandAction(Value):
    """Runs a shell script, or one argv without any shell."""

    kind: Literal["command"] = "command"
    script: str | None = None
    argv: tuple[str, ...] | None = None
    cwd: str = "/workspace"
    env: dict[str, str] = Field(default_factory=dict)


class VisitAction(Value):
    """Fetches an address; `write` if it submits something. `dns` and `redirects` are what is known beforehand."""

    kind: Literal["visit"] = "visit"
    url: str
    write: bool = False
    dns: tuple[tuple[str, ...], ...] = ()
    redirects: tuple[str, ...] = ()


class EffectAction(Value):
    """Does something that no other action describes, such as a call of a foreign service: its effects and the argument
    values that say where and how much."""

    kind: Literal["effect"] = "effect"
    effects: tuple[Effect, ...]
    destinations: tuple[str, ...] = ()
    """Hosts, recipients and accounts that it reaches."""
    amount: float | None = None
    currency: str = ""


class FileAction(Value):
    """Touches one path in the sandbox."""

    kind: Literal["file"] = "file"
    operation: Literal["read", "list", "write", "delete"]
    path: str


class SendAction(Value):
    """Gives something to somebody; the recipient `self` is the person who asked."""

    kind: Literal["send"] = "send"
    recipient: str
    what: str


class TalkAction(Value):
    """Speaks with the person who asked, and touches nothing else."""

    kind: Literal["talk"] = "talk"


class MemoryAction(Value):
    """Stores or looks up something in the person's own memory."""

    kind: Literal["memory"] = "memory"
    operation: Literal["remember", "recall"]


Action = Annotated[
    CommandAction | VisitAction | FileAction | SendAction | EffectAction | TalkAction | MemoryAction,
    Field(discriminator="kind"),
]


class Actor(Value):
    """For whom a task acts."""

    user_id: str
    role: str
    channel: str


class Question(Value):
    """One question to policy: who wants which actions, and where the arguments came from."""

    actor: Actor
    tool: str
    args: JsonObject
    actions: tuple[Action, ...]
    spoken_hosts: tuple[str, ...] = ()
    """Hosts that the person named in this task with their own words."""
    approved_hosts: tuple[HostGrant, ...] = ()
    """Hosts that the person approved or granted for this task."""
    provenance: Provenance = Provenance(trusted=True, origins=("user",))
    """Of the arguments."""
    tainted: bool = False
    """True once the task has read untrusted content."""
    private: bool = False
    """True once the task has read what only the person may see."""
    labels: ToolLabels = ToolLabels()
    """Of the tool."""
    arguments: tuple[Traced, ...] = ()
    """Each argument, taken to where it came from."""
    spoken_effects: tuple[Effect, ...] = ()
    """Effects that the person asked for with their own words."""
    suspicion: float = Field(default=0.0, ge=0, le=1)
    """What the detector says of the content that the task has read; it adds to the risk and decides nothing."""
    at: datetime | None = None
    """When it is asked, aware."""
    task_risk: int = Field(default=0, ge=0, le=100)
    """The highest risk of the task so far."""
    habits: Habits = Habits()
    standing: tuple[StandingRule, ...] = ()
    exceeded: tuple[Exceeded, ...] = ()
    """Ceilings that the call would go over."""
    spoken_recipients: tuple[str, ...] = ()
    """Addresses and accounts that the person wrote, and names out of their own lists."""
    delegated: bool = False
    """True if the person told the agent to do what some text says, such as a to-do list."""


class RiskPart(Value):
    """One named part of a risk, and its points."""

    name: str
    points: int
    detail: str = ""


class Reason(Value):
    """Why a verdict fell: the rule's stable id, and the values for its sentence (see contracts/texts/policy.py)."""

    rule: str
    detail: str = ""
    """The one value that a person needs to see, such as the host or the path."""


class Allow(Value):
    """The call runs at once; `egress` are the hosts that it may reach."""

    kind: Literal["allow"] = "allow"
    reasons: tuple[Reason, ...] = ()
    egress: tuple[HostGrant, ...] = ()
    effects: tuple[Effect, ...] = ()
    risk: int = Field(default=0, ge=0, le=100)
    policy_version: str = ""
    rules: tuple[str, ...] = ()
    """Ids of the policy's rules that decided, for the audit."""
    risk_parts: tuple[RiskPart, ...] = ()
    destinations: tuple[str, ...] = ()
    standing: str = ""
    """Id of the standing rule that spared the person a question."""


class Ask(Value):
    """The person decides; `egress` opens only with the yes."""

    kind: Literal["ask"] = "ask"
    reasons: tuple[Reason, ...]
    egress: tuple[HostGrant, ...] = ()
    effects: tuple[Effect, ...] = ()
    risk: int = Field(default=50, ge=0, le=100)
    policy_version: str = ""
    rules: tuple[str, ...] = ()
    risk_parts: tuple[RiskPart, ...] = ()
    destinations: tuple[str, ...] = ()
    """Where it goes, as a person must see it: hosts, recipients, accounts, paths."""
    step_up: bool = False
    """True if a yes needs a second factor."""
    shape: Shape | None = None
    """What the person may allow for good; None if this must be asked every time."""
    aim: str = ""
    """What it is after, whatever way it takes: after two denials of one aim the task stops trying."""
    approvers: tuple[str, ...] = ()
    """Who may decide beside the person and the owner, as `<channel>:<id>`, `*` at the end for any."""


class Deny(Value):
    """Never, not even with a yes."""

    kind: Literal["deny"] = "deny"
    reasons: tuple[Reason, ...]
    effects: tuple[Effect, ...] = ()
    risk: int = Field(default=100, ge=0, le=100)
    policy_version: str = ""
    rules: tuple[str, ...] = ()
    risk_parts: tuple[RiskPart, ...] = ()


Verdict = Annotated[Allow | Ask | Deny, Field(discriminator="kind")]
