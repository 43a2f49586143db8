"""The place that commands are judged for: an ordinary user in a sandbox with one workspace."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Setting:
    """Paths are absolute and normalised."""

    workspace: str = "/workspace"
    home: str = "/home/agent"
    scratch: str = "/tmp/agent"  # noqa: S108 - a folder of the sandbox, not of this machine
    user: str = "agent"


SANDBOX = Setting()
