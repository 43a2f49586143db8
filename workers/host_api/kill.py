"""The kill switch of a host, as the rest of its installation pulls and lifts it."""

import asyncio
import logging
from dataclasses import dataclass

from fastapi import APIRouter
from starlette.responses import Response

from contracts.audit import Event, EventKind, Recorder
from contracts.kill import Kill, LiftOrder, Stopped
from runtime.killing.switch import KillSwitch, LiftRefused
from workers.host_api.refusal import Refusal
from workers.killing.stopping import Stopping

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class KillDoor:
    """What the two requests need."""

    switch: KillSwitch
    stopping: Stopping
    recorder: Recorder

    async def pull(self, kill: Kill) -> Stopped:
        """In force first: neither the stop nor what it does waits for its line in the audit."""
        fresh = await asyncio.to_thread(self.switch.take_over, kill)
        stopped = await self.stopping.act(kill)
        if fresh:
            try:
                await self.recorder.record(_event("kill.pulled", kill.by, kill))
            except Exception:  # whatever is wrong with the record, the stop holds
                _log.exception("the stop %s could not be recorded", kill.kill_id)
        return stopped

    async def lift(self, order: LiftOrder) -> None:
        """Raises: LiftRefused, StorageUnusable; then the stops stay in force."""
        by = order.step_up.by
        try:
            await asyncio.to_thread(self.switch.check, order.kills, order.step_up)
        except LiftRefused:
            await self._record("kill.refused", by, order)
            raise
        await self._record("kill.lifted", by, order)
        await asyncio.to_thread(self.switch.lift, order.kills, order.step_up)

    async def _record(self, kind: EventKind, by: str, order: LiftOrder) -> None:
        for kill in order.kills:
            await self.recorder.record(_event(kind, by, kill))


def kill_routes(door: KillDoor) -> APIRouter:
    """POST /kill stops, and answers once that is done; POST /kill/lift takes what a second factor has confirmed."""
    router = APIRouter()

    @router.post("/kill")
    async def kill(kill: Kill) -> Stopped:
        return await door.pull(kill)

    @router.post("/kill/lift", status_code=204)
    async def lift(order: LiftOrder) -> Response:
        try:
            await door.lift(order)
        except LiftRefused as error:
            raise Refusal("refused", str(error)) from error
        return Response(status_code=204)

    return router


def _event(kind: EventKind, by: str, kill: Kill) -> Event:
    return Event(
        kind=kind,
        actor=by,
        task_id=kill.task_id,
        data={"kill_id": kill.kill_id, "level": kill.level},
        words={"reason": kill.reason} if kill.reason else {},
    )
