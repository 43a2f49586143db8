"""What the audit costs: records a second from one writer and from many, checking them, and what it adds to a step."""

import asyncio
import os
import tempfile
import time
from contextlib import AsyncExitStack
from pathlib import Path

from temporalio.client import Client

from audit.log import AuditLog
from audit.places import AuditPlaces
from audit.recorder import LogRecorder
from audit.verifying import Intact, verified
from bench._recording import Recording
from bench._report import arguments, report, spread
from bench.overhead import STEPS, one_task, our_workers, timed, tuned_server
from contracts.audit import Event, NoRecord, Recorder
from runtime.confidential import Confidential
from runtime.keys import Keyring
from runtime.plugin import agent_os_plugin

WRITERS = (1, 8, 64)
APPENDS, QUICK_APPENDS = 4_000, 800
ROUNDS, QUICK_ROUNDS = 12, 4
WARM_UP_ROUNDS = 2

EVENT = Event(
    kind="effect.begun",
    actor="telegram:1",
    task_id="01M8QF06GKCC5E0F16P9WPBT5Q",
    call_id="1.0-abc",
    data={"tool": "shell", "args_sha256": "0" * 64, "place": "local/asos-1/1", "approval_id": None, "risk": 9},
)


async def appends(folder: Path, count: int, writers: int) -> float:
    """Records a second, from so many at once in one process."""
    log = await AuditLog.open(AuditPlaces.below(folder))

    async def writer() -> None:
        for _ in range(count // writers):
            await log.append(EVENT)

    begun = time.perf_counter()
    await asyncio.gather(*(writer() for _ in range(writers)))
    took = time.perf_counter() - begun
    await log.close()
    return count // writers * writers / took


async def steps(rounds: int) -> dict[str, list[float]]:
    """Milliseconds of a step, with the audit and without it, the order changing with each round."""
    noop = Recording(STEPS)
    samples: dict[str, list[float]] = {"step": [], "step, recorded": []}
    with tempfile.TemporaryDirectory() as name:
        keyring = Keyring.load(Path(name) / "data")
        log = await AuditLog.open(AuditPlaces.below(Path(name)))
        recorders: dict[str, Recorder] = {
            "step": NoRecord(),
            "step, recorded": LogRecorder(log, Confidential(keyring, str).seal),
        }
        async with tuned_server(Path(name)) as target, AsyncExitStack() as stack:
            client = await Client.connect(target, plugins=[agent_os_plugin(keyring)])
            await stack.enter_async_context(our_workers(client, noop))
            for number in range(WARM_UP_ROUNDS + rounds):
                for kind in sorted(samples, reverse=bool(number % 2)):
                    noop.recorder = recorders[kind]
                    milliseconds, _ = await timed(lambda: one_task(client))
                    if number >= WARM_UP_ROUNDS:
                        samples[kind].append(milliseconds)
        await log.close()
    return samples


def main() -> None:
    given = arguments(__doc__)
    count = QUICK_APPENDS if given.quick else APPENDS
    rates: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as name:
        for writers in WRITERS:
            places = Path(name) / str(writers)
            rates[f"records a second, {writers} at once"] = asyncio.run(appends(places, count, writers))
        begun = time.perf_counter()
        found = verified(AuditPlaces.below(Path(name) / "1"))
        assert isinstance(found, Intact)
        rates["records checked a second"] = found.records / (time.perf_counter() - begun)
    samples = asyncio.run(steps(QUICK_ROUNDS if given.quick else ROUNDS))
    pairs = [with_it - without for without, with_it in zip(samples["step"], samples["step, recorded"], strict=True)]
    figures = {kind: spread(values) for kind, values in samples.items()}
    figures["added by the audit, pair by pair"] = spread(pairs)
    title = f"milliseconds; the steps of tasks with {STEPS} of them, three records each"
    report(title, figures, rates, given, f"server, workers and client in one place, pid {os.getpid()}")


if __name__ == "__main__":
    main()
