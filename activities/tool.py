"""What a tool is: a description for planners, its actions for policy, and one function that acts."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from contracts.blobs import Blobs
from contracts.language import Language
from contracts.messages import HostGrant
from contracts.provenance import Provenance
from contracts.sandbox import Sandbox
from contracts.tools import ToolResult, ToolSpec
from contracts.values import JsonObject
from contracts.verdicts import Action
from policy.roles import BrowserRules


class BadArguments(Exception):
    """Raised when arguments do not fit a tool's schema; the text names the argument, its value and what is expected."""


@dataclass(frozen=True)
class ToolContext:
    """What one run of a tool may use."""

    task_id: str
    call_id: str
    user_id: str
    language: Language
    blobs: Blobs
    beat: Callable[[str], None]
    """Report life and a word on progress; call it at least every two seconds while work goes on."""
    open_sandbox: Sandbox | None
    egress: tuple[HostGrant, ...] = ()
    """Hosts that this call may reach; the egress proxy is what enforces it."""
    tainted: bool = False
    """True if the task has read untrusted content, so that what it writes may repeat it."""
    private: bool = False
    """True if the task has read what only the person may see."""
    given: Provenance = field(default_factory=lambda: Provenance(trusted=False, origins=("planner",)))
    """Of the arguments of this call: what it keeps of them is no better."""
    browser: BrowserRules = field(default_factory=BrowserRules)
    """What the policy says of addresses for the role of this task."""

    @property
    def foreign_may_be_inside(self) -> bool:
        """Whether something that the person did not write can have come into the sandbox, and so out of it again.

        Without it a sandbox holds only its image and what the task itself has made there.
        """
        return self.tainted or bool(self.egress)

    def from_sandbox(self, origin: str) -> Provenance:
        """Of what comes out of the sandbox: it holds nothing but its image and what this task has brought into it."""
        return Provenance(
            trusted=not self.foreign_may_be_inside,
            origins=(origin,),
            confidentiality="private" if self.private else "public",
        )

    @property
    def sandbox(self) -> Sandbox:
        """The task's sandbox; only tools whose spec says `needs_sandbox` may ask for it."""
        if self.open_sandbox is None:
            raise LookupError("this tool runs without a sandbox: set needs_sandbox in its spec")
        return self.open_sandbox


class Tool(Protocol):
    """One thing an agent can do. A bad outcome is a result with `ok=False`, an exception is a failed platform."""

    @property
    def spec(self) -> ToolSpec: ...

    def actions(self, args: JsonObject) -> tuple[Action, ...]:
        """What a call would do to the world, for policy; pure. Raises: BadArguments."""
        ...

    def summary(self, args: JsonObject, language: Language) -> str:
        """One line for the person, at most HEADLINE_CHARACTERS."""
        ...

    def preview(self, args: JsonObject) -> str:
        """The arguments as an approval shows them: complete where short, control characters escaped."""
        ...

    def timeout_seconds(self, args: JsonObject) -> float:
        """How long a call may take in all."""
        ...

    async def run(self, args: JsonObject, context: ToolContext) -> ToolResult: ...
