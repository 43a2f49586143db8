"""What a sandbox costs: starting, claiming, commands, files, freezing, saving, many at once; beside others.

Every figure of one run is taken interleaved, on the same engine, image and runtime. The ratios are what the design
promises; each says its target.
"""

import asyncio
import logging
import shutil
import tempfile
from pathlib import Path

from bench import _engine_floor as floor
from bench import _peer as peer
from bench._checkpoint_cases import processes
from bench._report import Arguments, arguments, report, spread
from bench._sandbox_cases import (
    CHANGED_MIB,
    Bench,
    Figures,
    benched,
    cold_starts,
    live,
    paused,
    peer_cold_start,
    snapshots,
    warm_claims,
)
from contracts.sandbox import SandboxUnavailable
from sandbox.engine import runtimes

GVISOR = "runsc"

TARGETS = {
    "cold: ours / docker-py (at most 1.3)": ("cold: ours", "cold: docker-py"),
    "cold: ours / warm claim (at least 10)": ("cold: ours", "warm claim: ours, with journal"),
    "command: docker-py exec / ours (at least 10, gVisor 1.5)": ("command: docker-py exec", "command: ours"),
    "command: docker-py exec / kept shell (gVisor at least 20)": (
        "command: docker-py exec",
        "command: ours, in a kept shell",
    ),
    "1 KB: docker-py / ours (at least 10)": ("1 KB in and out: docker-py", "1 KB in and out: ours"),
    "10 MB: docker-py / ours (at least 1)": ("10 MB in and out: docker-py", "10 MB in and out: ours"),
    "pause: ours / docker-py (at most 1.5)": ("pause: ours", "pause: docker-py"),
    "resume: ours / docker-py (at most 1.5)": ("resume: ours", "resume: docker-py"),
    "processes: Docker / ours (at least 3)": ("processes saved and back: Docker", "processes saved and back: ours"),
}

LIMITS = {
    "destroy: ours, seen by the task": 20,
    "destroy: ours, in the background": 2_000,
    f"snapshot: {CHANGED_MIB} MB changed": 2_000,
    "snapshot: the next, incremental": 500,
}
"""Milliseconds that a figure of ours may have by itself."""


async def measured(runtime: str, given: Arguments) -> tuple[Figures, dict[str, float]]:
    """Samples in milliseconds, and MiB for each of many paused sandboxes."""
    folder = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="asos-bench-"))
    rounds, many = (3, 5) if given.quick else (15, 50)
    try:
        with floor.engine() as client:
            async with benched(runtime, client, folder) as bench:
                spent = await paused(bench, many)
                await _measure(bench, rounds, given.quick)
                return bench.samples, spent
    finally:
        await asyncio.to_thread(shutil.rmtree, folder)


async def _measure(bench: Bench, rounds: int, quick: bool) -> None:
    for _ in range(rounds):
        await cold_starts(bench)
        await warm_claims(bench)
    await live(bench, rounds * 2)
    for _ in range(1 if quick else 5):
        await snapshots(bench)
        if bench.runtime == GVISOR:
            await processes(bench)
    if not quick:
        for _ in range(3):
            await peer_cold_start(bench)


def main() -> None:
    given = arguments(__doc__)
    logging.disable(logging.WARNING)
    try:
        known = asyncio.run(runtimes(""))
    except SandboxUnavailable as error:
        raise SystemExit(str(error)) from error
    figures: dict[str, dict[str, float]] = {}
    ratios: dict[str, float] = {}
    for runtime in ("runc", GVISOR):
        if runtime not in known:
            print(f"{runtime} is not registered with the engine: left out")
            continue
        samples, spent = asyncio.run(measured(runtime, given))
        figures |= {f"{runtime} {name}": spread(values) for name, values in samples.items()}
        for name, (above, below) in TARGETS.items():
            if above in samples and below in samples:
                ratios[f"{runtime} {name}"] = spread(samples[above])["p50"] / spread(samples[below])["p50"]
        for name, most in LIMITS.items():
            ratios[f"{runtime} {name} / its limit of {most} ms (at most 1)"] = spread(samples[name])["p95"] / most
        ratios |= {f"{runtime} MiB for each of the paused, {name}": amount for name, amount in spent.items()}
    beside = f"docker-py{'' if given.quick else f', {peer.NAME}'} (milliseconds; {CHANGED_MIB} MB are random bytes)"
    report("A sandbox", figures, ratios, given, beside)


if __name__ == "__main__":
    main()
