"""Identifiers that workflow code can make: they take their time and their chance from outside."""

from datetime import datetime
from random import Random

CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
"""Base 32 without I, L, O and U (https://github.com/ulid/spec)."""

SHORT_ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"
"""No 0, 1, i, l, o: people type these ids."""


def ulid(now: datetime, chance: Random) -> str:
    """26 characters: 48 bits of milliseconds and 80 of chance, so that ids sort by time."""
    number = (int(now.timestamp() * 1000) << 80) | chance.getrandbits(80)
    return "".join(CROCKFORD[(number >> shift) & 31] for shift in range(125, -1, -5))


def short_id(chance: Random, length: int = 5) -> str:
    """A short id that is unique enough among the few that one task has open."""
    return "".join(chance.choice(SHORT_ALPHABET) for _ in range(length))
