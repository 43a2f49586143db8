"""What policy is asked and what it answers: Allow, Ask or Deny, the strictest wins."""

from typing import Annotated, Literal

from pydantic import Field

from contracts.messages import HostGrant
from contracts.tools import Provenance
from contracts.values import JsonObject, Value

Effect = Literal["read", "write", "execute", "egress", "send", "share", "money", "account", "delete", "credential"]


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
    CommandAction | VisitAction | FileAction | SendAction | TalkAction | MemoryAction, Field(discriminator="kind")
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


class Ask(Value):
    """The person decides; `egress` opens only with the yes."""

    kind: Literal["ask"] = "ask"
    reasons: tuple[Reason, ...]
    egress: tuple[HostGrant, ...] = ()
    effects: tuple[Effect, ...] = ()
    risk: int = Field(default=50, ge=0, le=100)
    policy_version: str = ""


class Deny(Value):
    """Never, not even with a yes."""

    kind: Literal["deny"] = "deny"
    reasons: tuple[Reason, ...]
    effects: tuple[Effect, ...] = ()
    risk: int = Field(default=100, ge=0, le=100)
    policy_version: str = ""


Verdict = Annotated[Allow | Ask | Deny, Field(discriminator="kind")]
