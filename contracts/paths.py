"""Where a path of a sandbox leads, and what lies there."""

from contracts.values import Value


class Followed(Value):
    """Where one path of the sandbox leads."""

    path: str
    """As it was asked for, or a name that fits its wildcards."""
    real: str
    """With all symbolic links followed; what does not exist stays as it is."""
    content: str = ""
    """SHA-256 in hex of a plain file, or `absent`, `folder`, `unreadable` (also what is no plain file), `too_large`;
    empty if it was not asked for."""
