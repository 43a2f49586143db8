"""Watches the kill switch in a thread of its own and acts on what it sees, whoever wrote it and however busy we are."""

import asyncio
import logging
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from temporalio.client import Client
from temporalio.service import RPCError

from contracts.audit import Event, Recorder
from contracts.kill import Kill, Stopped
from runtime.killing.brake import FileBrake
from workers.killing import orders
from workers.killing.stopping import Stopping

LOOK_SECONDS = 0.1
AGAIN_SECONDS = (1.0, 3.0, 10.0)
"""A stop is acted on again after these: what was on its way meanwhile, such as a task in the index, ends as well."""
LONGEST_PAUSE_SECONDS = 10.0

Tell = Callable[[Kill], Awaitable[None]]
"""Passes a stop on to the further hosts."""

_log = logging.getLogger(__name__)


class Watcher:
    """One in each worker. `client` is None on a host whose tasks another worker ends."""

    def __init__(
        self, brake: FileBrake, stopping: Stopping, client: Client | None, recorder: Recorder, tell: Tell
    ) -> None:
        self._brake = brake
        self._stopping = stopping
        self._client = client
        self._recorder = recorder
        self._tell = tell
        self._known: frozenset[str] = frozenset()
        self._doing: set[asyncio.Task[None]] = set()
        self._ended = threading.Event()

    @asynccontextmanager
    async def watching(self) -> AsyncIterator[None]:
        """Watch while the block runs."""
        loop = asyncio.get_running_loop()
        thread = threading.Thread(target=self._watch, args=(loop,), name="kill switch", daemon=True)
        thread.start()
        self._do(self._settle())
        try:
            yield
        finally:
            self._ended.set()
            await asyncio.to_thread(thread.join)
            for task in self._doing:
                task.cancel()
            await asyncio.gather(*self._doing, return_exceptions=True)

    def _watch(self, loop: asyncio.AbstractEventLoop) -> None:
        while not self._ended.is_set():
            kills = self._brake.kills()
            self._look(kills, loop)
            self._ended.wait(LOOK_SECONDS)

    def _look(self, kills: tuple[Kill, ...], loop: asyncio.AbstractEventLoop) -> None:
        fresh = [kill for kill in kills if kill.kill_id not in self._known]
        lifted = self._known - {kill.kill_id for kill in kills}
        self._known = frozenset(kill.kill_id for kill in kills)
        for kill in fresh:
            loop.call_soon_threadsafe(self._do, self._act(kill))
        for kill in fresh:
            if kill.level == "all":
                self._stopping.end_all(kill)  # at once: the loop may have much to do
        if lifted:
            loop.call_soon_threadsafe(self._do, self._settle())

    def _do(self, work: "asyncio.Future[None] | Awaitable[None]") -> None:
        task = asyncio.ensure_future(_done(work))
        self._doing.add(task)
        task.add_done_callback(self._doing.discard)

    async def _act(self, kill: Kill) -> None:
        _log.warning("the kill switch was pulled: %s by %s", kill.level, kill.by)
        await asyncio.gather(self._stop_here(kill), self._tell(kill), self._order(kill))
        for pause in AGAIN_SECONDS:
            await asyncio.sleep(pause)
            if not self._holds(kill):
                return
            await asyncio.gather(self._stopping.act(kill), self._order(kill))

    async def _stop_here(self, kill: Kill) -> None:
        stopped = await self._stopping.act(kill)
        if stopped.problem or stopped.left:
            _log.error("not all was stopped: %s", stopped.model_dump_json())
        try:
            await self._recorder.record(_acted(kill, stopped))
        except Exception:  # whatever is wrong with the record, the stop goes on
            _log.exception("what the stop %s did could not be recorded", kill.kill_id)

    async def _order(self, kill: Kill) -> None:
        """As often as it takes while the stop holds: Temporal may be away."""
        if self._client is None or kill.level not in ("task", "all"):
            return
        pause = 1.0
        while self._holds(kill):
            try:
                ended = await orders.cancel(self._client, kill)
                if kill.level == "all":
                    await orders.settle_schedules(self._client, stopped=True)
            except (RPCError, OSError) as error:
                _log.warning("the tasks cannot be cancelled yet: %s", error)
                await asyncio.sleep(pause)
                pause = min(2 * pause, LONGEST_PAUSE_SECONDS)
            else:
                _log.warning("cancelled: %s", ", ".join(ended) or "nothing ran")
                return

    async def _settle(self) -> None:
        """Schedules go on once nothing stops them; also those that were left paused when a worker died."""
        while self._client is not None and not any(kill.level == "all" for kill in self._brake.kills()):
            try:
                await orders.settle_schedules(self._client, stopped=False)
            except (RPCError, OSError) as error:
                _log.warning("schedules cannot be let go on yet: %s", error)
                await asyncio.sleep(LONGEST_PAUSE_SECONDS)
            else:
                return

    def _holds(self, kill: Kill) -> bool:
        return any(kill.kill_id == each.kill_id for each in self._brake.kills())


async def _done(work: Awaitable[None]) -> None:
    try:
        await work
    except Exception:  # one failure must not keep the next stop from being acted on
        _log.exception("acting on the kill switch failed")


def _acted(kill: Kill, stopped: Stopped) -> Event:
    return Event(
        kind="kill.acted",
        actor="worker",
        task_id=kill.task_id,
        data={"kill_id": kill.kill_id, "level": kill.level, **stopped.model_dump(mode="json", exclude={"problem"})},
        words={"problem": stopped.problem} if stopped.problem else {},
    )
