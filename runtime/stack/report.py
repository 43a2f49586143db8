"""What runs now: the state file, checked against the living processes and their health pages."""

import asyncio
from typing import Literal

from pydantic import Field

from contracts.values import Value
from runtime.paths import DataPaths
from runtime.policy_state import PolicyState, read_policy_state
from runtime.stack.output import output_of
from runtime.stack.probe import is_healthy
from runtime.stack.state import Failure, PartState, StackState, read_state


class PartReport(Value):
    """One part as it is at this moment."""

    name: str
    phase: str
    healthy: bool
    pid: int | None
    ports: tuple[int, ...]
    uptime_seconds: float | None
    restarts: int
    last_exit: int | None
    log: str


class StackReport(Value):
    """The whole stack as it is at this moment."""

    phase: Literal["starting", "running", "stopping", "failed", "stopped", "abandoned"]
    """abandoned: the supervisor was killed; the next up or down clears what it left."""
    healthy: bool
    data_dir: str
    supervisor_pid: int | None = None
    uptime_seconds: float | None = None
    parts: tuple[PartReport, ...] = ()
    ui_url: str = ""
    pairing_code: str = ""
    """One-time code for the first contact of a person, while one waits to be used."""
    failure: Failure | None = None
    versions: dict[str, str] = Field(default_factory=dict)
    policy: PolicyState | None = None
    """The policy in force as the worker has noted it; None before its first start."""


async def report(paths: DataPaths) -> StackReport:
    """Look, and change nothing."""
    state = await asyncio.to_thread(read_state, paths.stack_state)
    if state is None:
        return StackReport(phase="stopped", healthy=False, data_dir=str(paths.root))
    parts = await asyncio.gather(*(_part_report(paths, part) for part in state.parts))
    phase = _phase(state)
    return StackReport(
        phase=phase,
        healthy=phase == "running" and all(part.healthy for part in parts),
        data_dir=str(paths.root),
        supervisor_pid=state.supervisor.pid if state.is_alive else None,
        uptime_seconds=round(state.supervisor.age_seconds, 1) if state.is_alive else None,
        parts=tuple(parts),
        ui_url=state.ui_url,
        pairing_code=await asyncio.to_thread(pairing_code, paths),
        failure=state.failure,
        versions=state.versions,
        policy=await asyncio.to_thread(read_policy_state, paths.policy_state),
    )


def pairing_code(paths: DataPaths) -> str:
    """The code that waits to be used, or nothing."""
    try:
        return paths.pairing_code.read_text().strip()
    except FileNotFoundError:
        return ""


def _phase(state: StackState) -> Literal["starting", "running", "stopping", "failed", "abandoned"]:
    return state.phase if state.is_alive or state.phase == "failed" else "abandoned"


async def _part_report(paths: DataPaths, part: PartState) -> PartReport:
    alive = part.mark is not None and part.mark.process() is not None
    return PartReport(
        name=part.name,
        phase=part.phase,
        healthy=alive and await is_healthy(part.health),
        pid=part.mark.pid if part.mark and alive else None,
        ports=part.ports,
        uptime_seconds=round(part.mark.age_seconds, 1) if part.mark and alive else None,
        restarts=part.restarts,
        last_exit=part.last_exit,
        log=str(output_of(paths.logs, part.name)),
    )
