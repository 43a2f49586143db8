"""Two things side by side, of which none is left behind by the failure of the other."""

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

T = TypeVar("T")
U = TypeVar("U")


async def both(one: Awaitable[T], other: Awaitable[U]) -> tuple[T, U]:
    """When both have come to their end. Raises: what one of them raised."""
    first, second = await asyncio.gather(one, other, return_exceptions=True)
    if isinstance(first, BaseException):
        raise first
    if isinstance(second, BaseException):
        raise second
    return first, second
