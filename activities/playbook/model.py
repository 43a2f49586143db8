"""What a playbook is once it has been read and found sound."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import JsonValue

from contracts.values import JsonObject


@dataclass(frozen=True)
class Condition:
    """`when`: a reference that is compared with a value, or only has to be something other than empty or false."""

    reference: str
    """As it stands between the braces, such as `steps.check.exit_code`."""
    negated: bool = False
    """True for `!=` and for `not`."""
    equals: JsonValue = None
    compares: bool = False


@dataclass(frozen=True)
class Step:
    """One call, with references to fill in."""

    id: str
    tool: str
    args: JsonObject
    after: tuple[str, ...] = ()
    """Every step that must have succeeded before: those named, and those that arguments refer to."""
    approve: bool = False
    """True if the person is asked first, whatever policy says; policy is asked all the same."""
    when: Condition | None = None
    verbatim: bool = False
    """True if the arguments hold no references, whatever they look like: a person's own command is not a template."""


@dataclass(frozen=True)
class Playbook:
    """Steps in an order that respects what they wait for."""

    name: str
    steps: tuple[Step, ...]
    description: str = ""
    inputs: Mapping[str, str | None] = field(default_factory=dict)
    """Defaults by name; None must be given."""
    answer: str = ""
    """What the person reads at the end, with references; empty lists what was done."""
