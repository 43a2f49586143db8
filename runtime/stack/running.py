"""One part while it runs: its process, and what is known of it."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

from runtime.stack import processes
from runtime.stack.output import last_lines, output_of
from runtime.stack.part import Part
from runtime.stack.probe import is_healthy
from runtime.stack.state import Failure, FailureKind, PartState, ProcessMark

PROBE_INTERVAL_SECONDS = 0.05

KILLED_RATHER_SECONDS = 2.0
"""A part that never became healthy has no work to bring to an end."""


class PartFailed(Exception):
    """Raised when a part does not start."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(f"{failure.kind}: {failure.detail or failure.exit_code or ''}".strip())
        self.failure = failure


class RunningPart:
    """Starts, awaits and stops one part, and records each change."""

    def __init__(
        self, part: Part, environ: Mapping[str, str], logs: Path, record: Callable[[], Awaitable[None]]
    ) -> None:
        self.name = part.name
        self.state = PartState(name=part.name, health=part.health, ports=tuple(part.ports.values()))
        self._part = part
        self._environ = environ
        self._output = output_of(logs, part.name)
        self._record = record
        self._process: asyncio.subprocess.Process | None = None
        self._begun = 0.0
        self._ready: float | None = None

    async def start(self) -> None:
        """Start it and wait until it is healthy. Raises: PartFailed, after whatever had started is ended."""
        self._begun, self._ready = time.monotonic(), None
        written = self._output.stat().st_size if self._output.exists() else 0
        process = await self._started()
        try:
            await self._healthy(process, written)
        except PartFailed:
            await processes.end(process, KILLED_RATHER_SECONDS)
            await self._note(phase="restarting", mark=None, last_exit=process.returncode)
            raise
        self._ready = time.monotonic()
        await self._note(phase="running", ready_after_seconds=round(self._ready - self._begun, 3))

    async def ended(self) -> float:
        """Wait for its end, kill what it left of its group, and give for how many seconds it was healthy."""
        if self._process is None:
            return 0.0
        code = await self._process.wait()
        processes.kill_group(self._process.pid)
        await self._note(phase="restarting", mark=None, restarts=self.state.restarts + 1, last_exit=code)
        return 0.0 if self._ready is None else time.monotonic() - self._ready

    async def stop(self) -> None:
        """End it in order."""
        if self._process is not None:
            await processes.end(self._process, self._part.stops_within_seconds)
        await self._note(phase="stopped", mark=None)

    async def _started(self) -> asyncio.subprocess.Process:
        try:
            self._process = await processes.start(self._part, self._environ, self._output)
        except FileNotFoundError:
            raise PartFailed(self._failure("program_missing", detail=self._part.argv[0])) from None
        except OSError as error:
            raise PartFailed(self._failure("unusable", detail=f"{self._part.argv[0]}: {error.strerror}")) from error
        await self._note(phase="starting", mark=ProcessMark.of(self._process.pid))
        return self._process

    async def _healthy(self, process: asyncio.subprocess.Process, written: int) -> None:
        until = self._begun + self._part.starts_within_seconds
        while True:
            answers = await is_healthy(self._part.health)
            if process.returncode is not None:
                lines = last_lines(self._output, written)
                raise PartFailed(self._failure("exited", exit_code=process.returncode, lines=lines))
            if answers:
                return
            if time.monotonic() >= until:
                lines = last_lines(self._output, written)
                raise PartFailed(self._failure("not_healthy", seconds=self._part.starts_within_seconds, lines=lines))
            await asyncio.sleep(PROBE_INTERVAL_SECONDS)

    async def _note(self, **changes: object) -> None:
        self.state = self.state.model_copy(update=changes)
        await self._record()

    def _failure(self, kind: FailureKind, **facts: object) -> Failure:
        return Failure.model_validate({"kind": kind, "part": self.name, "log": str(self._output), **facts})
