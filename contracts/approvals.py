"""What a yes is bound to, and what a person may let happen again without being asked."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Protocol

from pydantic import Field

from contracts.blobs import Sha256
from contracts.values import Value

NOTHING: Mapping[str, str] = MappingProxyType({})
"""Of which nothing is known."""


class Bound(Value):
    """Everything that an approval is bound to; any difference at execution makes it void."""

    tool: str
    args_sha256: Sha256
    cwd: str = ""
    env_sha256: str = ""
    operands: dict[str, str] = Field(default_factory=dict)
    """SHA-256 of each file that the call would run or send, by its real path; `absent`, or `folder`."""
    policy_version: str = ""
    tainted: bool = False
    leads: dict[str, str] = Field(default_factory=dict)
    """Where links lead that the person was shown."""

    def digest(self) -> Sha256:
        """SHA-256 in hex over the canonical JSON of all fields, without links where there are none: approvals that
        were asked before there were any stay what they are."""
        fields = self.model_dump(mode="json", exclude=set() if self.leads else {"leads"})
        text = json.dumps(fields, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def with_operands(
    bound: Bound, paths: Iterable[str], real: Mapping[str, str] = NOTHING, content: Mapping[str, str] = NOTHING
) -> Bound:
    """The same with what the files are that its call would run or send; one that nobody has looked at is absent."""
    unseen = {path: "absent" for path in paths if path not in real}
    return bound.model_copy(update={"operands": {**unseen, **content}})


def approval_purpose(approval_id: str, digest: Sha256) -> str:
    """What a second factor confirms that goes with a yes."""
    return f"approval:{approval_id}:{digest}"


def names_sender(pattern: str, sender: str) -> bool:
    """Whether a pattern of approvers, whose `*` at the end stands for anything, means this sender."""
    return bool(sender) and (sender.startswith(pattern[:-1]) if pattern.endswith("*") else sender == pattern)


def joint_digest(digests: Iterable[Sha256]) -> Sha256:
    """What an approval of these calls, in this order, is known by."""
    return hashlib.sha256("\n".join(digests).encode()).hexdigest()


class Shape(Value):
    """A kind of call that a person can let pass for good: the tool, and what must be the same next time."""

    tool: str
    parts: dict[str, str] = Field(default_factory=dict)
    """Such as `program: git`, `words: push`, `host: example.com`, `recipient: anna@example.com`."""

    def text(self) -> str:
        """One line for a person and the record: what must be the same, and in brackets the rules that asked."""
        named = ", ".join(f"{name} {value}" for name, value in sorted(self.parts.items()) if name != "asks")
        asks = self.parts.get("asks", "")
        return f"{self.tool}: {named or '-'}" + (f" ({asks})" if asks else "")


class StandingRule(Value):
    """What a person has allowed to happen again without a question; visible and revocable."""

    rule_id: str
    user_id: str
    shape: Shape
    by: str
    at: datetime
    task_id: str | None = None
    """Holds in this task alone; None holds in all tasks of the person."""
    expires_at: datetime | None = None
    policy_version: str = ""
    role: str = ""
    """Of the person when they made it: with another role it does not count."""


class StandingRules(Protocol):
    """The rules of everybody on this machine."""

    async def of(self, user_id: str, task_id: str, now: datetime) -> tuple[StandingRule, ...]:
        """Those in force for a person in a task."""
        ...

    async def add(self, rule: StandingRule) -> None:
        """The same id again changes nothing."""
        ...


class NoStandingRules:
    """Knows none, for parts that are tested alone."""

    async def of(self, user_id: str, task_id: str, now: datetime) -> tuple[StandingRule, ...]:
        return ()

    async def add(self, rule: StandingRule) -> None:
        return None


class StepUp(Value):
    """What a second factor has confirmed; `proof` is an HMAC that only holders of the keyring can make."""

    purpose: str
    """`approval:<id>:<digest>`, or `lift:<ids of the stops>`."""
    by: str
    at: datetime
    proof: str
