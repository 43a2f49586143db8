"""How a command ended, as the agent says it; checked, since anybody in the sandbox might have said it."""

import signal
from typing import Annotated

from pydantic import Field

from contracts.sandbox import Captured, CommandOutcome, Limit
from contracts.values import Value
from sandbox.inside.capture import SHOWN

Size = Annotated[int, Field(ge=0, le=2**62)]
Shown = Annotated[int, Field(ge=0, le=SHOWN)]
Path = Annotated[str, Field(max_length=200)]

StreamFacts = tuple[Shown, Shown, Size, Size, Path | None]
"""Length of head and of tail, of all, of what is kept, and where."""


class Ended(Value):
    """The end of a command, or of a script in a kept shell."""

    code: Annotated[int, Field(ge=0, le=255)] | None
    signal: Annotated[int, Field(ge=1, le=64)] | None
    timed_out: bool
    seconds: Annotated[float, Field(ge=0, le=1e9)]
    joined: bool
    limit: Limit | None
    streams: tuple[StreamFacts, StreamFacts]
    over: bool = False
    """True if the kept shell has ended too."""

    def fits(self, shown: bytes) -> bool:
        """Whether as much is shown as is said."""
        return len(shown) == sum(head + tail for head, tail, *_ in self.streams)

    def outcome(self, shown: bytes, *, wall: bool) -> CommandOutcome:
        """`wall`: its time-out was the sandbox's bound, not its own."""
        first = sum(self.streams[0][:2])
        stdout = _captured(self.streams[0], shown[:first])
        stderr = _captured(self.streams[1], shown[first:])
        return CommandOutcome(
            exit_code=None if self.timed_out or self.signal else self.code,
            signal=_name(self.signal),
            timed_out=self.timed_out,
            stdout=stdout,
            stderr=stderr,
            seconds=self.seconds,
            joined=self.joined,
            limit=self._limit(wall, stdout.clipped or stderr.clipped),
        )

    def _limit(self, wall: bool, clipped: bool) -> Limit | None:
        if self.timed_out and wall:
            return "wall_time"
        return self.limit or ("output" if clipped else None)


class Refusal(Value):
    """The command could not even be noted down, and so was not run."""

    refused: Annotated[str, Field(max_length=200)]
    limit: Limit | None


def refused(problem: str, limit: Limit | None = None) -> CommandOutcome:
    """A command that was not run."""
    text = f"{problem}\n".encode()
    return CommandOutcome(exit_code=126, stderr=Captured(head=text, total_bytes=len(text)), limit=limit)


def _captured(facts: StreamFacts, shown: bytes) -> Captured:
    head, _, total, kept, path = facts
    return Captured(head=shown[:head], tail=shown[head:], total_bytes=total, path=path, clipped=kept < total)


def _name(number: int | None) -> str | None:
    """Such as `KILL`."""
    if number is None:
        return None
    try:
        return signal.Signals(number).name.removeprefix("SIG")
    except ValueError:
        return str(number)
