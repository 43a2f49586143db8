"""One lock for each name, for as long as somebody holds or awaits it."""

import asyncio
from weakref import WeakValueDictionary


class Locks:
    """Locks by name."""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def of(self, name: str) -> asyncio.Lock:
        lock = self._locks.get(name)
        if lock is None:
            lock = self._locks[name] = asyncio.Lock()
        return lock
