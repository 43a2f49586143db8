"""What is here now, as a person sees it: the engine's word, and the register's on whose it is."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Literal

from contracts.sandbox import HostedSandbox, SandboxLost
from sandbox.driver import Driver, Found
from sandbox.records import Register

STATES: Mapping[str, Literal["active", "paused", "dead"]] = {"running": "active", "paused": "paused", "dead": "dead"}


async def listed(driver: Driver, register: Register, owner: str) -> Sequence[HostedSandbox]:
    """Everything of this owner, whether or not the register knows it. Raises: SandboxUnavailable."""
    return await asyncio.gather(*(_seen(driver, register, found) for found in await driver.owned(owner)))


async def _seen(driver: Driver, register: Register, found: Found) -> HostedSandbox:
    row = register.get(found.sandbox_id)
    state = STATES[found.state]
    return HostedSandbox(
        sandbox_id=found.sandbox_id,
        owner=row.owner if row else "",
        user_id=row.user_id if row else "",
        epoch=row.epoch if row else 0,
        state="warm" if row and row.state == "warm" and state == "active" else state,
        runtime=found.runtime,
        image=found.image,
        disk_bytes=await _disk_bytes(driver, found.sandbox_id),
    )


async def _disk_bytes(driver: Driver, sandbox_id: str) -> int | None:
    try:
        return await driver.disk_bytes(sandbox_id)
    except SandboxLost:
        return None
