"""Where people pull and lift: the same few steps for the command line, the chats and the page."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

from contracts.audit import Event, EventKind, Recorder
from contracts.kill import Kill, KillLevel, LiftOrder
from runtime.keys import Keyring
from runtime.killing.state import StateFile, purpose_of
from runtime.killing.switch import KillSwitch
from runtime.paths import DataPaths
from runtime.second_factor import FactorRefused, SecondFactor

OnLift = Callable[[LiftOrder], Awaitable[None]]

_log = logging.getLogger(__name__)


class KillDesk:
    """A stop waits for nothing, not even for its line in the audit; a lift needs both line and second factor."""

    def __init__(
        self,
        switch: KillSwitch,
        factor: SecondFactor,
        recorder: Recorder,
        now: Callable[[], datetime],
        on_lift: OnLift,
    ) -> None:
        self._switch = switch
        self._factor = factor
        self._recorder = recorder
        self._now = now
        self._on_lift = on_lift

    @classmethod
    def of(
        cls, paths: DataPaths, keyring: Keyring, factor: SecondFactor, recorder: Recorder, on_lift: OnLift
    ) -> "KillDesk":
        """For the installation in this folder; `on_lift` passes a lift on to its other machines."""
        switch = KillSwitch(StateFile.of(paths, keyring), factor.verify)
        return cls(switch, factor, recorder, lambda: datetime.now(UTC), on_lift)

    async def pull(self, level: KillLevel, task_id: str | None, by: str, reason: str = "") -> Kill:
        """In force when this returns. Raises: OSError if it cannot be written, ValueError."""
        kill = await self.write(level, task_id, by, reason)
        await self.pulled(kill)
        return kill

    async def write(self, level: KillLevel, task_id: str | None, by: str, reason: str = "") -> Kill:
        """The same, without the line in the audit, for who acts on it first. Raises: OSError, ValueError."""
        return await asyncio.to_thread(self._switch.pull, level, task_id, by, reason)

    async def pulled(self, kill: Kill) -> str:
        """Record a stop that is in force; gives why that failed."""
        try:
            await self._record("kill.pulled", kill.by, (kill,))
        except Exception as error:  # whatever is wrong with the record: the stop holds
            _log.error("the stop %s could not be recorded: %s", kill.kill_id, error)
            return str(error) or type(error).__name__
        return ""

    async def in_force(self) -> tuple[Kill, ...]:
        return await asyncio.to_thread(self._switch.in_force)

    async def lift(self, kill_id: str | None, code: str, by: str) -> tuple[Kill, ...]:
        """Lift one stop, or all for None; a code counts once. Raises: LiftRefused, FactorRefused, OSError."""
        kills = await asyncio.to_thread(self._switch.chosen, kill_id)
        try:
            step_up = await asyncio.to_thread(self._factor.confirm, code, purpose_of(kills), by, self._now())
        except FactorRefused:
            await self._record("kill.refused", by, kills)
            raise
        await self._record("kill.lifted", by, kills)
        await asyncio.to_thread(self._switch.lift, kills, step_up)
        await self._on_lift(LiftOrder(kills=kills, step_up=step_up))
        return kills

    async def _record(self, kind: EventKind, by: str, kills: tuple[Kill, ...]) -> None:
        for kill in kills:
            event = Event(
                kind=kind,
                actor=by,
                task_id=kill.task_id,
                data={"kill_id": kill.kill_id, "level": kill.level},
                words={"reason": kill.reason} if kill.reason else {},
            )
            await self._recorder.record(event)
