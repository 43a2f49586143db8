"""Where values come from: what may steer a call, what a tool's arguments are, and what an argument was made of."""

from typing import Literal

from pydantic import Field

from contracts.values import Value

Confidentiality = Literal["public", "private", "secret"]
"""Who may see it: anybody, the person alone, or nobody at all."""

OutputTrust = Literal["ours", "own", "foreign"]
"""Who may have written what a tool gives: this program, the person and their own records, or anybody."""

ArgumentKind = Literal[
    "destination",
    "recipient",
    "amount",
    "command",
    "path",
    "identifier",
    "time",
    "choice",
    "number",
    "query",
    "text",
    "secret",
]
"""What an argument is for. `destination` is an address or host, `recipient` a person, account or channel that gets
something, `identifier` names one thing of a list, `choice` is one of a closed set, `text` is free and may say anything.
"""

Effect = Literal["read", "write", "execute", "egress", "send", "share", "money", "account", "delete", "credential"]

Space = Literal["own", "shared", "outside"]
"""Where an effect takes place: where the person alone sees it, where others see it, too, or beyond all their places."""


class Provenance(Value):
    """Where a value came from, and whether the person's own words may be read into it."""

    trusted: bool
    """Integrity: False if somebody else may have written it."""
    origins: tuple[str, ...] = ()
    """Such as `user`, `contacts`, `web:https://host`, `sandbox:command`, `file:/workspace/x`, `memory:<id>`."""
    confidentiality: Confidentiality = "private"

    def joined(self, other: "Provenance") -> "Provenance":
        """Of a value that both went into: trusted only if both are, and as confidential as the stricter one."""
        order: tuple[Confidentiality, ...] = ("public", "private", "secret")
        return Provenance(
            trusted=self.trusted and other.trusted,
            origins=tuple(dict.fromkeys((*self.origins, *other.origins))),
            confidentiality=max(self.confidentiality, other.confidentiality, key=order.index),
        )


class TakenIn(Value):
    """What a task, and its sandbox with it, has taken in so far; it never becomes less."""

    foreign: bool = False
    """True once something that others may have written has come in."""
    private: bool = False
    """True once something that only the person may see has come in."""

    def joined(self, other: "TakenIn") -> "TakenIn":
        return TakenIn(foreign=self.foreign or other.foreign, private=self.private or other.private)


class ToolLabels(Value):
    """What kind of thing a tool is, said once by whoever offers it, in words that are the same for every tool.

    Nothing said means the worst: unknown effects, foreign output.
    """

    effects: tuple[Effect, ...] = ()
    """That any call of it has; what a single call does is said by its actions."""
    output: OutputTrust = "foreign"
    confidentiality: Confidentiality = "private"
    """Of its output."""
    arguments: dict[str, ArgumentKind] = Field(default_factory=dict)
    """Kind of each argument by name; one that is not named is `text`."""
    space: Space = "outside"
    reversible: bool = False
    """True if what it does can be taken back by the person, completely, at any time."""
    contacts: bool = False
    """True if its output is the person's own address book, whose entries may become recipients."""
    ids: tuple[str, ...] = ()
    """Fields of its structured output that name one thing of a closed list, such as the number of a mail, whoever
    wrote the rest; `*` is each plain value of a list. Left out, `id` and the like of rows that nobody else wrote."""


class Source(Value):
    """One value that the planner has seen: a message, a result, a remembered note, an approved destination."""

    kind: Literal["message", "result", "contact", "memory", "approved", "system"]
    text: str
    provenance: Provenance
    ids: tuple[str, ...] = ()
    """Identifiers that this source lists, such as those of the person's own files; a closed set."""
    pointed: bool = False
    """True if the person named it with their own words: the file, the page, the search that gave it."""


How = Literal["said", "contact", "approved", "listed", "typed", "made", "foreign", "unknown"]
"""How an argument came about: the person wrote it, it is in their address book, they approved it before, it is an id
of a list, it is a date or number within bounds, the planner made it from trusted values alone, somebody else wrote it,
or nobody can say."""


class Traced(Value):
    """One argument of a call, taken to where it came from."""

    name: str
    """Path in the arguments, such as `recipients[0]`."""
    kind: ArgumentKind
    text: str
    how: How
    provenance: Provenance
    pointed: bool = False
    """True if a foreign text that the person themselves named holds it."""

    @property
    def steered(self) -> bool:
        """Whether somebody else may have chosen it."""
        return self.how in ("foreign", "unknown")
