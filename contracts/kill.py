"""The kill switch: what has been stopped, by whom, and how everything that acts asks before it acts."""

from datetime import datetime
from typing import Literal, Protocol

from contracts.approvals import StepUp
from contracts.values import Value

KillLevel = Literal["task", "tools", "network", "all"]
"""`task` ends one task; `tools` holds every tool and model call, and closes the way out of sandboxes; `network` closes
that way and holds calls of a model; `all` ends everything that runs, and lets nothing begin."""

EffectKind = Literal["model", "tool", "network", "sandbox", "task"]
"""What is about to happen: a model call, a tool call, a request over the network, making or waking a sandbox, or a new
task."""


class Kill(Value):
    """One pull of the switch, in force until it is lifted."""

    kill_id: str
    level: KillLevel
    task_id: str | None = None
    """Of the level `task`."""
    by: str
    reason: str = ""
    at: datetime


class Halted(Exception):
    """Raised when the switch forbids an effect; the text names level, person and time."""

    def __init__(self, kill: Kill) -> None:
        about = f"task {kill.task_id}" if kill.task_id else kill.level
        super().__init__(
            f"the kill switch ({about}) was pulled by {kill.by} at {kill.at:%Y-%m-%d %H:%M:%S} UTC; "
            "`asos kill --lift` lifts it"
        )
        self.kill = kill


class Brake(Protocol):
    """Asked before every effect. It reads a small file, which is quick enough for the event loop."""

    def halted(self, effect: EffectKind, task_id: str | None = None) -> Kill | None:
        """What forbids the effect now; also if the switch's state cannot be read (fail closed)."""
        ...


class FreeRunning:
    """A brake that nobody can pull, for parts that are tested alone."""

    def halted(self, effect: EffectKind, task_id: str | None = None) -> Kill | None:
        return None


class Stopped(Value):
    """What a stop did on one machine."""

    host_id: str
    sandboxes: tuple[str, ...] = ()
    """Names of those that were ended, or frozen for the level `tools`."""
    left: tuple[str, ...] = ()
    """Names of those that would not end."""
    seconds: float = 0.0
    problem: str = ""
    """Such as an engine that does not answer."""


class LiftOrder(Value):
    """Take these stops out of force on another machine of the installation."""

    kills: tuple[Kill, ...]
    step_up: StepUp


def note_of(kill: Kill) -> str:
    """Why a task has ended, as its person reads it."""
    return f"killed by {kill.by}" + (f": {kill.reason}" if kill.reason else "")
