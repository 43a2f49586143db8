"""What is unusual for this very person, by their own history. Somebody who is new has no habits to differ from."""

from datetime import UTC, datetime

from contracts.usage import Habits

SETTLED_CALLS = 20
"""From so many calls before the last hour on there are habits."""
_HOURS_CALLS = 50
"""An hour of the day is a finer thing to know, and takes more calls."""
_USUAL_HOUR = 0.02
"""An hour is usual if it and its neighbours have seen at least this part of all calls."""
_CALM_CALLS = 15
"""So many calls in a minute are never a burst."""
_BURST = 2
"""A burst is more than so many times the busiest minute there was."""


def is_settled(habits: Habits) -> bool:
    """Whether there is a history to differ from; a first busy hour is none."""
    return habits.calls - habits.last_hour >= SETTLED_CALLS


def is_burst(habits: Habits) -> bool:
    return is_settled(habits) and habits.last_minute > max(_CALM_CALLS, _BURST * habits.busiest_minute)


def is_unusual_hour(at: datetime, habits: Habits, usual: tuple[int, int] | None) -> bool:
    """By the hours that the policy names (the second one excluded), or else by what was learned."""
    hour = at.astimezone(UTC).hour
    if usual is not None:
        start, end = usual
        return not (start <= hour < end if start <= end else hour >= start or hour < end)
    if not is_settled(habits) or len(habits.hours) != 24 or sum(habits.hours) < _HOURS_CALLS:
        return False
    near = sum(habits.hours[(hour + shift) % 24] for shift in (-1, 0, 1))
    return near < _USUAL_HOUR * sum(habits.hours)
