"""What tools may be built from."""

from dataclasses import dataclass

from activities.notes import Notes
from activities.provenance.contacts import Contacts


@dataclass(frozen=True)
class ToolParts:
    """Given to every tool module's `tools(parts)`; a tool takes what it needs."""

    notes: Notes
    proxy: str = "http://127.0.0.1:3128"
    """The only way out of a sandbox, as a program inside it sees it."""
    contacts: Contacts | None = None
    """The address books; without them there is no tool for them."""
