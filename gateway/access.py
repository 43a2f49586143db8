"""What the owner's rules say of a sender, over every stored pairing; who reads the rules is wired in from outside."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Standing:
    """Of one sender."""

    blocked: bool = False
    """Refused at once, whatever was stored."""
    role: str | None = None
    """In place of the role of the pairing; None leaves that."""


class Access(Protocol):
    """The rules in force. They may be read from a file, so ask off the event loop."""

    def standing(self, sender: str) -> Standing:
        """Of a sender, written as `<channel>:<id>`."""
        ...

    def problem(self) -> str:
        """Why a change to the rules is not in force; empty if all is."""
        ...


class AsPaired:
    """Everybody has the role that they were paired with, for parts that are tested alone."""

    def standing(self, sender: str) -> Standing:
        return Standing()

    def problem(self) -> str:
        return ""
