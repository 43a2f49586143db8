"""What tasks and people use up, reserved before it is used so that parallel calls cannot overshoot together."""

import hmac
from datetime import datetime
from typing import Literal, Protocol

from pydantic import Field

from contracts.values import Value

UsageKind = Literal["money", "requests", "messages", "tokens"]
Span = Literal["task", "minute", "hour", "day"]


class Ceiling(Value):
    """At most so much of a kind in a span, for one person (or one task, if the span is `task`)."""

    kind: UsageKind
    span: Span
    most: float = Field(ge=0)


class Exceeded(Value):
    """A ceiling that a use would go over."""

    ceiling: Ceiling
    used: float
    """Reserved and spent so far, without the refused use."""
    wanted: float
    frees_at: datetime | None = None
    """When enough of it is free again by time alone; None if never."""


def frees_at(exceeded: tuple[Exceeded, ...]) -> datetime | None:
    """When time alone frees all of them; None if it never does, or there are none."""
    times = [one.frees_at for one in exceeded]
    known = [at for at in times if at is not None]
    return max(known) if known and len(known) == len(times) else None


class Use(Value):
    """One use; the key is `task_id/call_id`, so that a retry reserves once."""

    key: str
    task_id: str
    user_id: str
    amounts: dict[UsageKind, float]


class Habits(Value):
    """What one person usually does, for noticing what is unusual. Empty for somebody who is new."""

    calls: int = 0
    """How many calls these habits were learned from."""
    hours: tuple[int, ...] = ()
    """Calls in each hour of the day, UTC; 24 numbers, or none."""
    destinations: tuple[str, ...] = ()
    """Marks of the hosts, recipients and accounts that this person's calls have reached by approval or by policy."""
    last_minute: int = 0
    last_hour: int = 0
    busiest_minute: int = 0
    """The most calls in one minute that were ever seen before the last hour."""
    key: str = ""
    """What the destinations are marked with; with none they stand there as they are."""

    def knows(self, destination: str) -> bool:
        """Whether a call of this person has reached it before."""
        return mark_of(destination, self.key) in self.destinations


def mark_of(destination: str, key: str) -> str:
    """What is kept of a destination: enough to know it again, and nothing that could be read without the key."""
    name = destination.strip().casefold()
    return hmac.digest(key.encode(), name.encode("utf-8", "surrogatepass"), "sha256").hex()[:32] if key else name


class Metering(Protocol):
    """Counts uses across all processes of a machine."""

    async def reserve(self, use: Use, ceilings: tuple[Ceiling, ...], *, force: bool = False) -> tuple[Exceeded, ...]:
        """Take the amounts at once, all or none; `force` takes them in any case. The same key again takes nothing more.

        Raises: StorageUnusable; then nothing may be used.
        """
        ...

    async def settle(self, key: str, amounts: dict[UsageKind, float]) -> None:
        """Replace what was reserved by what was really used; zero gives all back."""
        ...

    async def habits(self, user_id: str, now: datetime) -> Habits: ...

    async def learn(self, user_id: str, task_id: str, now: datetime, destinations: tuple[str, ...]) -> None:
        """Note one call that was let through, with where it went."""
        ...


class Unmetered:
    """Counts nothing, for parts that are tested alone."""

    async def reserve(self, use: Use, ceilings: tuple[Ceiling, ...], *, force: bool = False) -> tuple[Exceeded, ...]:
        return ()

    async def settle(self, key: str, amounts: dict[UsageKind, float]) -> None:
        return None

    async def habits(self, user_id: str, now: datetime) -> Habits:
        return Habits()

    async def learn(self, user_id: str, task_id: str, now: datetime, destinations: tuple[str, ...]) -> None:
        return None
