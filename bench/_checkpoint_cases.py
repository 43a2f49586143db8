"""Processes saved and brought back: 100 MB of heap, by the engine's own checkpoint calls and by ours."""

import asyncio
import time
from collections.abc import Callable

from docker.errors import APIError

from bench import _engine_floor as floor
from bench._sandbox_cases import Bench, ran
from contracts.sandbox import Command, LeaseRequest
from sandbox.engine import request

HEAP_MB = 100
HOLD = f"import os, time\nkept = os.urandom({HEAP_MB} << 20)\nopen('ready', 'w').close()\ntime.sleep(3600)\n"
WAIT = "until [ -e ready ]; do sleep 0.05; done"
AGAIN_SECONDS = 10.0


async def processes(bench: Bench) -> None:
    """Save, end, bring back, and one command; what is not saving is not timed."""
    await asyncio.to_thread(_by_docker, bench)
    await _by_us(bench)


async def _by_us(bench: Bench) -> None:
    owner = bench.owner()
    lease = await bench.cold.lease(LeaseRequest(task_id=owner, user_id="bench"))
    box = await bench.cold.open(lease)
    started = await box.run(Command(script=f'nohup python3 -c "{HOLD}" >/dev/null 2>&1 & {WAIT}'))
    if started.exit_code != 0:
        raise RuntimeError(f"the heap did not come up: {started}")
    with bench.timed("processes saved and back: ours"):
        snapshot = await bench.cold.sleep(lease, "asleep")
        wake = LeaseRequest(task_id=owner, user_id="bench", previous_epoch=lease.epoch, restore=snapshot.digest)
        lease = await bench.cold.lease(wake)
        box = await bench.cold.open(lease)
        await ran(box)
    outcome = await box.run(Command(argv=("pgrep", "-f", "urandom")))
    if snapshot.kind != "process" or outcome.exit_code != 0:
        raise RuntimeError(f"the heap did not come back: {snapshot.kind}, {outcome}")
    await bench.cold.release(lease)


def _by_docker(bench: Bench) -> None:
    container = floor.started(bench.client, bench.runtime, "python3", "-c", HOLD)
    try:
        floor.run(container, "sh", "-c", WAIT)
        with bench.timed("processes saved and back: Docker"):
            path = f"/containers/{container.id}"
            request(bench.client.api, "POST", f"{path}/checkpoints", json={"CheckpointID": "bench", "Exit": True})
            container.wait()
            _eventually(lambda: request(bench.client.api, "POST", f"{path}/start", params={"checkpoint": "bench"}))
            floor.run(container, "true")
    finally:
        container.remove(force=True)


def _eventually(start: Callable[[], object]) -> None:
    """A restore straight after its checkpoint may be told that it already exists."""
    deadline = time.monotonic() + AGAIN_SECONDS
    while True:
        try:
            start()
        except APIError as error:
            if "already exists" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.05)
        else:
            return
