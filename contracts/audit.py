"""What the audit is told: one event for every question, verdict, approval, effect, secret, login, kill and change."""

from typing import Literal, Protocol

from pydantic import Field

from contracts.values import JsonObject, Value

EventKind = Literal[
    "question",
    "verdict",
    "approval.asked",
    "approval.decided",
    "approval.expired",
    "approval.refused",
    "standing.added",
    "standing.used",
    "standing.revoked",
    "effect.begun",
    "effect.ended",
    "effect.refused",
    "model.begun",
    "model.ended",
    "secret.used",
    "login",
    "login.refused",
    "kill.pulled",
    "kill.acted",
    "kill.lifted",
    "kill.refused",
    "policy.changed",
    "policy.refused",
    "factor.enrolled",
    "factor.used",
    "factor.refused",
    "factor.removed",
    "budget.reserved",
    "budget.refused",
    "pairing",
    "pairing.refused",
    "egress",
    "file_get",
    "file_put",
    "file_list",
    "artifact_list",
    "sandbox_open",
    "shell_open",
    "recovered",
]


class Event(Value):
    """One line to be. `words` are a person's or a sandbox's own and are sealed before they are written."""

    kind: EventKind
    actor: str
    """`<channel>:<user id>`, or the name of a part."""
    task_id: str | None = None
    call_id: str | None = None
    digest: str = ""
    """Of what it is about, such as an approval's."""
    policy_version: str = ""
    position: str = ""
    """Where in the task's history: `<run id>/<activity id>/<attempt>`."""
    data: JsonObject = Field(default_factory=dict)
    """Facts that may lie open: never a secret, an address with a query, or anybody's words."""
    words: JsonObject = Field(default_factory=dict)
    """Facts that may not."""


class Recorder(Protocol):
    """Writes events down; on disk when it returns."""

    async def record(self, event: Event) -> None:
        """Raises: StorageUnusable; then the effect that it was to announce must not happen."""
        ...


class NoRecord:
    """Keeps nothing, for parts that are tested alone."""

    async def record(self, event: Event) -> None:
        return None
