"""Counts what each task sends, receives and asks for, and holds it to the limits of the policy file."""

import asyncio
import hashlib
import json
import logging
import math
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from weakref import WeakValueDictionary

from contracts.egress import EgressRules

log = logging.getLogger(__name__)

Clock = Callable[[], float]

KEPT_SECONDS = 90 * 86_400.0
"""Longer than any task waits."""


class LimitReached(Exception):
    """Raised when a task has sent or received as much as it may; its argument is `up` or `down`."""

    def __init__(self, direction: Literal["up", "down"]) -> None:
        super().__init__(direction)
        self.direction = direction


class Bucket:
    """A token bucket that is full at first; its size and rate may change from one call to the next."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._level: float | None = None
        self._seen = 0.0

    def take(self, count: float, *, rate: float, size: float, overdraw: bool = False) -> float:
        """Take the tokens, and give 0; or give the seconds until they will be there. Overdrawn, they are taken at once
        and the seconds are what the taker should wait."""
        now = self._clock()
        level = size if self._level is None else min(size, self._level + (now - self._seen) * rate)
        self._seen, self._level = now, level
        if level >= count or overdraw:
            self._level = level - count
        return max(0.0, (count - level) / rate)


class Meter:
    """What one task has used up. One object for all connections of a task."""

    def __init__(self, path: Path | None = None, clock: Clock = time.monotonic) -> None:
        self.up = 0
        self.down = 0
        self._path = path
        self._kept = (0, 0)
        self._requests = Bucket(clock)
        self._bytes = Bucket(clock)
        self._keeping = asyncio.Lock()

    def wait_for_request(self, rules: EgressRules) -> int:
        """0, and the request counts; or the whole seconds until there may be another one."""
        if rules.requests_per_minute is None:
            return 0
        per_minute = rules.requests_per_minute
        return math.ceil(self._requests.take(1, rate=per_minute / 60, size=max(1.0, per_minute)))

    def exhausted(self, rules: EgressRules) -> Literal["up", "down"] | None:
        """The direction in which nothing more may go."""
        if rules.bytes_up is not None and self.up >= rules.bytes_up:
            return "up"
        if rules.bytes_down is not None and self.down >= rules.bytes_down:
            return "down"
        return None

    def expect(self, rules: EgressRules, *, up: int = 0, down: int = 0) -> None:
        """Say beforehand that so many bytes are too many. Raises: LimitReached."""
        if rules.bytes_up is not None and up and self.up + up > rules.bytes_up:
            raise LimitReached("up")
        if rules.bytes_down is not None and down and self.down + down > rules.bytes_down:
            raise LimitReached("down")

    async def spend(self, rules: EgressRules, *, up: int = 0, down: int = 0) -> None:
        """Count bytes before they are passed on, and wait as long as their rate demands. Raises: LimitReached."""
        try:
            self.expect(rules, up=up, down=down)
        except LimitReached:
            self.up = self.up if not up or rules.bytes_up is None else rules.bytes_up
            self.down = self.down if not down or rules.bytes_down is None else rules.bytes_down
            raise
        self.up += up
        self.down += down
        if rules.bytes_per_second is not None:
            rate = rules.bytes_per_second
            await asyncio.sleep(self._bytes.take(up + down, rate=rate, size=rate, overdraw=True))

    def resume(self) -> None:
        """Go on from the totals that an earlier process wrote down; damaged ones count as none."""
        if self._path is None:
            return
        try:
            self.up, self.down = self._kept = _totals(self._path)
        except (OSError, ValueError, TypeError):
            return

    async def keep(self) -> None:
        """Write the totals down, so that they outlast this process."""
        async with self._keeping:
            if self._path is not None and self._kept != (self.up, self.down):
                self._kept = (self.up, self.down)
                try:
                    await asyncio.to_thread(_write, self._path, self._kept)
                except OSError as error:
                    log.warning("the traffic of a task is not written down: %s", error)


@dataclass
class Counts:
    """The bytes of one request, as seen from the sandbox; they run up the meter of its task."""

    meter: Meter
    rules: EgressRules
    up: int = 0
    down: int = 0

    async def sent(self, count: int) -> None:
        """Raises: LimitReached."""
        await self.meter.spend(self.rules, up=count)
        self.up += count

    def announced(self, *, up: int = 0, down: int = 0) -> None:
        """Raises: LimitReached."""
        self.meter.expect(self.rules, up=up, down=down)

    async def received(self, count: int) -> None:
        """Raises: LimitReached."""
        await self.meter.spend(self.rules, down=count)
        self.down += count


class Meters:
    """The meters of the tasks at work on a host; with a folder, totals outlast the process."""

    def __init__(self, folder: Path | None = None) -> None:
        """Forgets what no task can need any more. It looks through the folder, so call it off the event loop."""
        self._folder = folder
        self._meters: WeakValueDictionary[str, Meter] = WeakValueDictionary()
        if folder is not None:
            _forget_old(folder)

    def of(self, task_id: str) -> Meter:
        """The task's meter, for as long as somebody holds it. It reads a small file the first time."""
        meter = self._meters.get(task_id)
        if meter is None:
            meter = self._meters[task_id] = self._read(task_id)
        return meter

    def _read(self, task_id: str) -> Meter:
        if self._folder is None:
            return Meter()
        name = hashlib.sha256(task_id.encode("utf-8", "surrogatepass")).hexdigest()[:32]
        meter = Meter(self._folder / f"{name}.json")
        meter.resume()
        return meter


def _forget_old(folder: Path) -> None:
    for path in folder.glob("*.json"):
        with suppress(OSError):
            if path.stat().st_mtime < time.time() - KEPT_SECONDS:
                path.unlink()


def _write(path: Path, totals: tuple[int, int]) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    part.write_text(json.dumps(totals), encoding="ascii")
    part.replace(path)


def _totals(path: Path) -> tuple[int, int]:
    up, down = json.loads(path.read_text(encoding="ascii"))
    return int(up), int(down)
