"""What a shell knows at one point of a script: folders it may be in, variables, functions."""

from dataclasses import dataclass, field

from tree_sitter import Node

from policy.commands.stream import Stream
from policy.commands.word import UNKNOWN, Word, literal
from policy.setting import SANDBOX

MAX_FOLDERS = 8
"""A script that may be in more folders than this is in a folder that is not known."""


def initial_variables() -> dict[str, Word]:
    return {
        "HOME": literal(SANDBOX.home),
        "USER": literal(SANDBOX.user),
        "LOGNAME": literal(SANDBOX.user),
        "IFS": literal(" \t\n"),
    }


@dataclass
class State:
    """One point of a script. What differs between the ways that lead here is not known."""

    cwds: frozenset[str] | None
    """None if it could be any folder."""
    failed: frozenset[str] = frozenset()
    """Folders it is in instead, if the last change of folder failed."""
    variables: dict[str, Word] = field(default_factory=initial_variables)
    functions: dict[str, tuple[Node, ...]] = field(default_factory=dict)
    positional: tuple[Word, ...] | None = None
    plain_ifs: bool = True
    input: Stream | None = None
    """What `exec` has put in the place of the script's own input."""

    def copy(self) -> "State":
        return State(
            self.cwds,
            self.failed,
            dict(self.variables),
            dict(self.functions),
            self.positional,
            self.plain_ifs,
            self.input,
        )

    def settle(self) -> None:
        """Go on whether or not the last change of folder succeeded."""
        if self.cwds is not None:
            self.cwds |= self.failed
            if len(self.cwds) > MAX_FOLDERS:
                self.cwds = None
        self.failed = frozenset()

    def join(self, other: "State") -> None:
        """Go on from here or from there."""
        self.settle()
        other.settle()
        self.cwds = None if self.cwds is None or other.cwds is None else self.cwds | other.cwds
        self.settle()
        for name in self.variables.keys() | other.variables.keys():
            mine, theirs = self.variables.get(name, UNKNOWN), other.variables.get(name, UNKNOWN)
            self.variables[name] = mine if mine == theirs else _either(mine, theirs)
        for name, bodies in other.functions.items():
            self.functions[name] = tuple(dict.fromkeys((*self.functions.get(name, ()), *bodies)))
        if self.positional != other.positional:
            self.positional = None
        self.plain_ifs = self.plain_ifs and other.plain_ifs
        self.input = self.input or other.input

    def blur(self, before: dict[str, Word]) -> None:
        """After a function: a name that it gave a value may hold the new one or, if it was local, the former one."""
        for name in self.variables.keys() | before.keys():
            if self.variables.get(name, UNKNOWN) != before.get(name, UNKNOWN):
                self.variables[name] = _either(self.variables.get(name, UNKNOWN), before.get(name, UNKNOWN))

    def same_as(self, other: "State") -> bool:
        return (
            self.cwds == other.cwds
            and self.variables == other.variables
            and self.positional == other.positional
            and self.functions.keys() == other.functions.keys()
        )

    def assign(self, name: str, value: Word) -> None:
        self.variables[name] = value
        if name == "IFS":
            self.plain_ifs = value == literal(" \t\n")


def _either(mine: Word, theirs: Word) -> Word:
    numbers = all(word.numeric or word.text.lstrip("-").isdigit() for word in (mine, theirs))
    return Word(
        "0" if numbers else UNKNOWN.text, numeric=numbers, fetched=mine.fetched or theirs.fetched, many=not numbers
    )
