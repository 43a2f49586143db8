"""Commands that the gateway itself obeys; every other slash word is a request like any other."""

from dataclasses import dataclass

NAMES = frozenset(
    {
        "start",
        "help",
        "stop",
        "tasks",
        "status",
        "retry",
        "undo",
        "pause",
        "resume",
        "approve",
        "deny",
        "mode",
        "rules",
        "revoke",
        "kill",
        "lift",
    }
)
URGENT = frozenset({"stop", "kill", "lift", "pause", "approve", "deny", "status", "tasks", "revoke"})
"""Obeyed at once, also while an earlier message of the chat is still being handed on."""


@dataclass(frozen=True)
class Command:
    """One command and its words."""

    name: str
    words: tuple[str, ...] = ()

    @property
    def rest(self) -> str:
        return " ".join(self.words)


def parse(text: str) -> Command | None:
    """The command that a text is; None if it is none of the gateway's. `/stop@some_bot` counts as `/stop`."""
    if not text.startswith("/"):
        return None
    head, *words = text.split()
    name = head[1:].partition("@")[0].lower()
    return Command(name, tuple(words)) if name in NAMES else None
