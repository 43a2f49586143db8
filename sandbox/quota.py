"""The bounds of one open sandbox that no kernel says by name: watched while its commands run, and explained after."""

import asyncio
import re
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Protocol

from contracts.language import Language
from contracts.sandbox import Command, CommandOutcome, FileRefused, Limit, SandboxLost, SandboxUnavailable
from contracts.texts import limits as texts
from sandbox.driver import Found, Strain
from sandbox.limits import MEGABYTE, Limits

WATCH_SECONDS = 2.0
IDLE_SECONDS = 20.0
"""What a command left running in the background may still write, so that the watch goes on; it only gets slower."""
REMEMBERED = 256
"""Of so many commands what they left running is ended when the disk is full."""
SHARE_OF_TIME = 10
"""Counting the files of a large sandbox takes long: then it is done more seldom."""
BEGIN_SECONDS = 1.0
END_SECONDS = 60.0
NO_GROWTH = "trap '' XFSZ; ulimit -f 0"
"""Every write that would make a file longer fails, so that a command can say so; deleting and shortening do not."""
FILE_TOO_LARGE = 128 + 25
"""How a shell reports the signal for it."""

Act = Callable[[Command], Awaitable[CommandOutcome]]
End = Callable[[], Awaitable[None]]

SAID: tuple[tuple[Limit, re.Pattern[bytes]], ...] = (
    ("memory", re.compile(rb"MemoryError|Cannot allocate memory|std::bad_alloc|out of memory", re.IGNORECASE)),
    ("open_files", re.compile(rb"Too many open files", re.IGNORECASE)),
    ("file_size", re.compile(rb"File too large|File size limit exceeded", re.IGNORECASE)),
    ("disk", re.compile(rb"No space left on device|Disk quota exceeded", re.IGNORECASE)),
    (
        "processes",
        re.compile(rb"fork: |Cannot fork|can't start new thread|start another process|BlockingIOError.*Errno 11"),
    ),
)
"""How programs say that the kernel refused them something, where it does not count that itself."""


class Watched(Protocol):
    """What the bounds need of a driver."""

    async def find(self, sandbox_id: str) -> Found | None: ...

    async def strain(self, sandbox_id: str) -> Strain: ...

    async def disk_bytes(self, sandbox_id: str) -> int | None: ...


@dataclass(frozen=True)
class Facts:
    """What the host knows beside the outcome itself."""

    limits: Limits
    before: Strain = field(default_factory=Strain)
    after: Strain = field(default_factory=Strain)
    over_disk: bool = False
    """It was ended for that."""
    writes_refused: bool = False


def explain(outcome: CommandOutcome, facts: Facts) -> CommandOutcome:
    """The outcome with the bound that it met, if any, and how much that is."""
    limit = "disk" if facts.over_disk else outcome.limit or _met(outcome, facts)
    if limit is None:
        return outcome
    return outcome.model_copy(update={"limit": limit, "limit_amount": facts.limits.amount(limit)})


def why_lost(found: Found | None, limits: Limits, language: Language) -> str:
    """Why a sandbox is gone, as far as its engine knows."""
    if found is not None and found.cause == "memory":
        return texts.DIED_OF_MEMORY.say(language, amount=limits.memory_mb)
    return texts.DIED.say(language)


class Quota:
    """Runs the commands of one open sandbox within its bounds."""

    def __init__(
        self, driver: Watched, sandbox_id: str, limits: Limits, measure_inside: Callable[[], Awaitable[int | None]],
        language: Language = "en",
    ) -> None:  # fmt: skip
        self._driver = driver
        self._sandbox_id = sandbox_id
        self._limits = limits
        self._measure_inside = measure_inside
        self._language: Language = language
        self._strain = Strain()
        self._first: asyncio.Future[Strain] | None = None
        self._used = 0
        self._running = 0
        self._watching: asyncio.Task[None] | None = None
        self._stirred = asyncio.Event()
        self._ends: deque[tuple[float, End]] = deque(maxlen=REMEMBERED)
        self._over, self._lost = asyncio.Event(), asyncio.Event()
        self._cause = ""

    async def run(self, command: Command, act: Act, end: End) -> CommandOutcome:
        """`end` ends the command and all that it started. Raises: SandboxLost, with the cause if the engine knows."""
        refused = self._over.is_set() and await self._is_full()
        self._first = self._first or asyncio.ensure_future(self._driver.strain(self._sandbox_id))
        acting = asyncio.ensure_future(act(without_writes(command) if refused else command))
        if not refused:
            self._ends.append((asyncio.get_running_loop().time(), end))
        self._watch()
        try:
            over = await self._seen_through(acting, end, refused)
        finally:
            self._running -= 1
        outcome = acting.result()
        before, after = (Strain(), Strain()) if outcome.exit_code == 0 else await self._strained()
        return explain(outcome, Facts(self._limits, before, after, over, refused))

    async def permit_write(self) -> int:
        """How many bytes may still be written. Raises: FileRefused if there are none."""
        if self._over.is_set() and await self._is_full():
            used, amount = self._used // MEGABYTE, self._limits.disk_mb
            raise FileRefused(texts.DISK_FULL.say(self._language, used=used, amount=amount))
        return max(0, self._limits.disk_bytes - self._used)

    async def close(self) -> None:
        await _cancelled(*(one for one in (self._watching, self._first) if one is not None))

    async def _strained(self) -> tuple[Strain, Strain]:
        """The counters as they were last, and now. They are looked at only after a failure, since it takes time."""
        if self._first is not None and self._strain == Strain():
            self._strain = await self._first
        after = await self._driver.strain(self._sandbox_id)
        before, self._strain = self._strain, after
        return before, after

    async def _seen_through(self, acting: "asyncio.Future[CommandOutcome]", end: End, refused: bool) -> bool:
        """Wait for the end, or make it; gives whether it was for the disk."""
        lost = asyncio.ensure_future(self._lost.wait())
        # What may not write is not the one that fills the disk.
        over = asyncio.ensure_future(asyncio.Event().wait() if refused else self._over.wait())
        try:
            await _first_of(acting, lost, over)
            met = over.done() and not acting.done()
            if met:
                await _first_of(acting, lost, seconds=BEGIN_SECONDS)
            if met and not acting.done() and not lost.done():
                await end()
                await _first_of(acting, lost, seconds=END_SECONDS)
            if not acting.done():
                raise SandboxLost(self._cause or f"{self._sandbox_id} does not end a command that must end")
            return met and acting.result().exit_code is None
        finally:
            await _cancelled(acting, lost, over)

    def _watch(self) -> None:
        self._running += 1
        self._stirred.set()
        if self._watching is None or self._watching.done():
            self._watching = asyncio.create_task(self._watched())

    async def _watched(self) -> None:
        pause, clock = 0.0, asyncio.get_running_loop().time
        while True:
            await self._rest(pause)
            began, used = clock(), self._used
            state = await self._state()
            if state == "dead":
                self._lost.set()
                return
            if state == "running" and await self._is_full():
                await self._end_all()
            if self._running or self._used > used:
                pause = max(WATCH_SECONDS, SHARE_OF_TIME * (clock() - began))
            else:
                pause = min(2 * pause + WATCH_SECONDS, IDLE_SECONDS)

    async def _rest(self, seconds: float) -> None:
        """Until a command begins, which is given time to end before anything is counted."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._stirred.wait()
        if self._stirred.is_set():
            self._stirred.clear()
            await asyncio.sleep(WATCH_SECONDS)

    async def _end_all(self) -> None:
        """The commands that run, and what earlier ones left running. The youngest may not be known inside yet."""
        clock = asyncio.get_running_loop().time
        while self._ends and clock() - self._ends[0][0] > BEGIN_SECONDS:
            await self._ends.popleft()[1]()

    async def _state(self) -> str:
        try:
            found = await self._driver.find(self._sandbox_id)
        except SandboxUnavailable:
            return "unknown"  # an engine that is silent for a moment has lost nothing
        if found is not None and found.state != "dead":
            return found.state
        self._cause = why_lost(found, self._limits, self._language)
        return "dead"

    async def _is_full(self) -> bool:
        with suppress(SandboxLost, SandboxUnavailable):
            used = await self._driver.disk_bytes(self._sandbox_id)
            if used is None:
                used = await self._measure_inside()
            self._used = used or 0
        if self._used > self._limits.disk_bytes:
            self._over.set()
        else:
            self._over.clear()
        return self._over.is_set()


def without_writes(command: Command) -> Command:
    """The same command, whose files cannot grow; it can still delete some."""
    if command.script is not None:
        return command.model_copy(update={"script": f"{NO_GROWTH}\n{command.script}"})
    return command.model_copy(
        update={"argv": ("/bin/sh", "-c", f'{NO_GROWTH}; exec "$@"', "sh", *(command.argv or ()))}
    )


def _met(outcome: CommandOutcome, facts: Facts) -> Limit | None:
    if outcome.exit_code == 0:
        return None
    if _more(facts.before.memory_kills, facts.after.memory_kills):
        return "memory"
    if outcome.signal == "XFSZ" or outcome.exit_code == FILE_TOO_LARGE:
        return "disk" if facts.writes_refused else "file_size"
    if _more(facts.before.refused_processes, facts.after.refused_processes):
        return "processes"
    text = outcome.stderr.head + outcome.stderr.tail
    said = next((limit for limit, words in SAID if words.search(text)), None)
    return "disk" if said == "file_size" and facts.writes_refused else said


def _more(before: int | None, after: int | None) -> bool:
    return after is not None and after > (before or 0)


async def _first_of(*futures: "asyncio.Future[Any]", seconds: float | None = None) -> None:
    await asyncio.wait(futures, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)


async def _cancelled(*futures: "asyncio.Future[Any]") -> None:
    waiting = [one for one in futures if not one.done()]
    for one in waiting:
        one.cancel()
    if waiting:
        await asyncio.wait(waiting)
