"""Sandboxes made ahead, connected and waiting, so that a task gets one in milliseconds."""

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import NamedTuple

from contracts.sandbox import SandboxLost, SandboxUnavailable
from sandbox.records import Record
from sandbox.session import OpenSandbox

REFILL_AFTER_SECONDS = 0.5
"""After a claim the pool stays quiet for so long: the task's first commands come first."""

LOOK_SECONDS = 5.0
"""How often those that died are looked for."""

FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 2.0, 60.0
"""Between attempts while the engine makes none."""

log = logging.getLogger(__name__)


class WarmKind(NamedTuple):
    """What is made ahead: an image and a runtime by the names a request uses; empty is the host's own choice."""

    image: str = ""
    runtime: str = ""


@dataclass(frozen=True)
class Ready:
    """One sandbox that waits, with its connection."""

    kind: WarmKind
    record: Record
    opened: OpenSandbox

    def fits(self, image: str, runtime: str) -> bool:
        """A demanded runtime is looked up in what it is, since the host's own choice may be that one."""
        if self.kind.image != image:
            return False
        return self.record.runtime == runtime if runtime else not self.kind.runtime


class WarmPool:
    """So many of each kind. It fills itself in the background, and never while a task waits for the engine."""

    def __init__(
        self,
        wanted: Mapping[WarmKind, int],
        make: Callable[[WarmKind], Awaitable[Ready]],
        discard: Callable[[Ready], None],
        spare: Callable[[], bool],
    ) -> None:
        self._wanted = wanted
        self._make = make
        self._discard = discard
        self._spare = spare
        self._ready: list[Ready] = []
        self._creating = 0
        self._quiet_until = 0.0
        self._changed = asyncio.Event()
        self._filling: asyncio.Task[None] | None = None

    def start(self) -> None:
        if self._filling is None and any(self._wanted.values()):
            self._filling = asyncio.create_task(self._fill_for_ever(), name="warm sandboxes")

    async def close(self) -> None:
        """Stop filling, and give up those that nobody claimed."""
        filling, self._filling = self._filling, None
        if filling is not None:
            filling.cancel()
            await asyncio.gather(filling, return_exceptions=True)
        while self._ready:
            self._discard(self._ready.pop())

    @property
    def counts(self) -> Counter[WarmKind]:
        """How many of each kind wait now."""
        return Counter(one.kind for one in self._ready)

    def take(self, image: str, runtime: str) -> Ready | None:
        """The first that fits and still lives; it is no longer in the pool."""
        for one in [one for one in self._ready if one.fits(image, runtime)]:
            self._ready.remove(one)
            self._changed.set()
            if one.opened.connected:
                self._quiet_until = time.monotonic() + REFILL_AFTER_SECONDS
                return one
            self._discard(one)
        return None

    def put_back(self, one: Ready) -> None:
        """It was taken in vain."""
        self._ready.append(one)

    def give_way(self) -> bool:
        """Give one up, so that another sandbox has its place; False if there is none."""
        if not self._ready:
            return False
        self._discard(self._ready.pop())
        return True

    def look(self) -> None:
        """Something has changed, such as a place that became free."""
        self._changed.set()

    @contextmanager
    def standing_back(self) -> Iterator[None]:
        """While the engine makes a sandbox that somebody waits for."""
        self._creating += 1
        try:
            yield
        finally:
            self._creating -= 1
            self._changed.set()

    async def _fill_for_ever(self) -> None:
        pause = FIRST_PAUSE_SECONDS
        while True:
            self._drop_the_dead()
            kind = self._missing()
            if kind is None or self._creating or not self._spare() or time.monotonic() < self._quiet_until:
                await self._rest()
                continue
            try:
                self._ready.append(await self._make(kind))
                pause = FIRST_PAUSE_SECONDS
            except (SandboxUnavailable, SandboxLost, OSError) as error:
                log.warning("no warm sandbox of %s could be made, the next attempt is in %d s: %s", kind, pause, error)
                await asyncio.sleep(pause)
                pause = min(2 * pause, LONGEST_PAUSE_SECONDS)

    async def _rest(self) -> None:
        """Until something changes, or it is time to look after the dead or after what was claimed."""
        quiet = self._quiet_until - time.monotonic()
        self._changed.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(quiet if quiet > 0 else LOOK_SECONDS):
                await self._changed.wait()

    def _missing(self) -> WarmKind | None:
        counts = self.counts
        return next((kind for kind, count in self._wanted.items() if counts[kind] < count), None)

    def _drop_the_dead(self) -> None:
        for one in [one for one in self._ready if not one.opened.connected]:
            self._ready.remove(one)
            self._discard(one)
