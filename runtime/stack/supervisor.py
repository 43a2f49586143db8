"""Start the parts one after the other, start them again when they die, and stop them in reverse order."""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Coroutine, Mapping

from runtime.paths import DataPaths
from runtime.stack.output import keep_small, output_of
from runtime.stack.part import Stack
from runtime.stack.ports import holder_of, is_free
from runtime.stack.processes import end_leftovers
from runtime.stack.running import PartFailed, RunningPart
from runtime.stack.state import Failure, Phase, ProcessMark, StackState, read_state, write_state

FIRST_BACKOFF_SECONDS = 0.1
LONGEST_BACKOFF_SECONDS = 30.0
STEADY_SECONDS = 60.0
"""A part that ran so long begins with the shortest back-off again."""
OUTPUT_CHECK_SECONDS = 30.0

_log = logging.getLogger(__name__)

Observe = Callable[[StackState], None]


class Supervisor:
    """Runs one stack; the caller holds the lock of its data folder."""

    def __init__(self, stack: Stack, environ: Mapping[str, str], observe: Observe) -> None:
        self._stack = stack
        self._paths = DataPaths(stack.data_dir)
        self._own = ProcessMark.own()
        self._observe = observe
        self._phase: Phase = "starting"
        self._failure: Failure | None = None
        self._recording = asyncio.Lock()
        self._parts = [RunningPart(part, environ, self._paths.logs, self._record) for part in stack.parts]

    async def run(self, stop: asyncio.Event) -> Failure | None:
        """Until `stop` is set or the start fails; then all parts are stopped. A failure stays in the state file."""
        await self._clear()
        await self._record()
        try:
            await _until_stopped(self._keep_running(), stop)
        except PartFailed as error:
            self._failure = error.failure
        finally:
            await self._stop()
        return self._failure

    async def _clear(self) -> None:
        left = await asyncio.to_thread(read_state, self._paths.stack_state)
        ended = await asyncio.to_thread(end_leftovers, self._stack.data_dir, left.parts if left else ())
        if ended:
            _log.warning("ended %d processes that an earlier stack had left", ended)

    async def _keep_running(self) -> None:
        await asyncio.to_thread(self._require_free_ports)
        for running in self._parts:
            await running.start()
        self._phase = "running"
        await self._record()
        async with asyncio.TaskGroup() as group:
            group.create_task(self._keep_outputs_small())
            for running in self._parts:
                group.create_task(_kept_alive(running))

    def _require_free_ports(self) -> None:
        for part in self._stack.parts:
            for setting, port in part.ports.items():
                if not is_free(port):
                    holder = holder_of(port)
                    raise PartFailed(
                        Failure(kind="port_in_use", part=part.name, port=port, setting=setting, holder=holder)
                    )

    async def _keep_outputs_small(self) -> None:
        while True:
            await asyncio.sleep(OUTPUT_CHECK_SECONDS)
            for part in self._stack.parts:
                await asyncio.to_thread(keep_small, output_of(self._paths.logs, part.name))

    async def _stop(self) -> None:
        self._phase = "stopping"
        await self._record()
        for running in reversed(self._parts):
            await running.stop()
        states = [running.state for running in self._parts]
        await asyncio.to_thread(end_leftovers, self._stack.data_dir, states)
        if self._failure is None:
            self._paths.stack_state.unlink(missing_ok=True)
        else:
            self._phase = "failed"
            await self._record()

    async def _record(self) -> None:
        async with self._recording:
            state = self._state()
            await asyncio.to_thread(write_state, self._paths.stack_state, state)
        self._observe(state)

    def _state(self) -> StackState:
        return StackState(
            phase=self._phase,
            supervisor=self._own,
            stops_within_seconds=self._stack.stops_within_seconds,
            parts=tuple(running.state for running in self._parts),
            failure=self._failure,
            ui_url=self._stack.ui_url,
            versions=self._stack.versions,
        )


async def _kept_alive(running: RunningPart) -> None:
    backoff = FIRST_BACKOFF_SECONDS
    while True:
        lived = await running.ended()
        if lived >= STEADY_SECONDS:
            backoff = FIRST_BACKOFF_SECONDS
        _log.warning("%s ended with %s; it starts again in %.1f s", running.name, running.state.last_exit, backoff)
        await asyncio.sleep(backoff)
        backoff = min(backoff * 2, LONGEST_BACKOFF_SECONDS)
        try:
            await running.start()
        except PartFailed as error:
            _log.error("%s did not start again: %s", running.name, error)


async def _until_stopped(work: Coroutine[None, None, None], stop: asyncio.Event) -> None:
    """Run `work`, and cancel it when `stop` is set; its exception passes through."""
    running = asyncio.create_task(work)
    stopping = asyncio.create_task(stop.wait())
    try:
        await asyncio.wait({running, stopping}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        stopping.cancel()
        running.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await running
