"""The kill switch of a host, as the rest of its installation pulls and lifts it."""

import asyncio
from dataclasses import dataclass

from fastapi import APIRouter
from starlette.responses import Response

from contracts.kill import Kill, LiftOrder, Stopped
from runtime.killing.switch import KillSwitch, LiftRefused
from workers.host_api.refusal import Refusal
from workers.killing.stopping import Stopping


@dataclass(frozen=True)
class KillDoor:
    """What the two requests need."""

    switch: KillSwitch
    stopping: Stopping


def kill_routes(door: KillDoor) -> APIRouter:
    """POST /kill stops, and answers once that is done; POST /kill/lift takes what a second factor has confirmed."""
    router = APIRouter()

    @router.post("/kill")
    async def kill(kill: Kill) -> Stopped:
        await asyncio.to_thread(door.switch.take_over, kill)
        return await door.stopping.act(kill)

    @router.post("/kill/lift", status_code=204)
    async def lift(order: LiftOrder) -> Response:
        try:
            await asyncio.to_thread(door.switch.lift, order.kills, order.step_up)
        except LiftRefused as error:
            raise Refusal("refused", str(error)) from error
        return Response(status_code=204)

    return router
