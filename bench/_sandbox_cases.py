"""What is measured of a sandbox: each case one or more samples in milliseconds, ours beside the engine's own."""

import asyncio
import ctypes
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import docker
import psutil
from docker.errors import NotFound
from docker.models.containers import Container

from audit.ledger import Ledger
from bench import _engine_floor as floor
from bench import _peer as peer
from contracts.blobs import BlobRef
from contracts.sandbox import Command, Lease, LeaseRequest
from sandbox.choice import make_host
from sandbox.host import SandboxHost
from sandbox.session import OpenSandbox
from sandbox.snapshots.opening import open_snapshots
from sandbox.snapshots.sealing import SnapshotKeys

TRUE = ("true",)
SMALL = os.urandom(1_024)
LARGE = os.urandom(10 * 1_048_576)
CHANGED_MIB = 100
CALM_SECONDS = 0.02
"""Before a sample of few milliseconds: the engine still works after it has answered, which is the former's cost."""

Figures = dict[str, list[float]]


@dataclass
class Bench:
    """One runtime: an engine's client, a host with a warm pool, one without, and the samples so far."""

    runtime: str
    client: docker.DockerClient
    cold: SandboxHost
    warm: SandboxHost
    ledger: Ledger
    samples: Figures = field(default_factory=dict)
    count: int = 0

    def owner(self) -> str:
        """A new task id."""
        self.count += 1
        return f"bench-{self.count}"

    @contextmanager
    def timed(self, name: str) -> Iterator[None]:
        began = time.perf_counter()
        yield
        self.samples.setdefault(name, []).append((time.perf_counter() - began) * 1e3)


@asynccontextmanager
async def benched(runtime: str, client: docker.DockerClient, folder: Path) -> AsyncIterator[Bench]:
    """Everything for one runtime; what it made is gone afterwards."""
    async with AsyncExitStack() as owned:
        hosts = []
        for name, warm in (("cold", 0), ("warm", 1)):
            host = await make_host(
                host_id=name,
                state_dir=folder / name,
                driver="docker",
                runtime=runtime,
                image="base",
                max_sandboxes=100,
                warm=warm,
                snapshots=open_snapshots(
                    str(folder / f"{name}-snapshots"),
                    SnapshotKeys.from_secret(os.urandom(32)),
                    scratch=folder / "scratch",
                ),
                sweep_grace_seconds=0,
            )
            owned.push_async_callback(host.close)
            owned.push_async_callback(host.sweep, [])
            hosts.append(host)
        ledger = await Ledger.open(folder / "ledger.sqlite")
        owned.push_async_callback(ledger.close)
        yield Bench(runtime, client, hosts[0], hosts[1], ledger)


async def cold_starts(bench: Bench) -> None:
    """From nothing to the first command's result: the engine, the peer and ours; and each one's end."""
    with bench.timed("cold: docker-py"):
        container = await asyncio.to_thread(floor.started, bench.client, bench.runtime)
        await asyncio.to_thread(floor.run, container, *TRUE)
    with bench.timed("destroy: docker-py"):
        await asyncio.to_thread(container.remove, force=True)
    with bench.timed("cold: ours"):
        lease = await _first_command(bench, bench.cold)
    with bench.timed("destroy: ours, seen by the task"):
        await bench.cold.release(lease)
        began = time.perf_counter()
    await _gone(bench, lease)
    bench.samples.setdefault("destroy: ours, in the background", []).append((time.perf_counter() - began) * 1e3)


async def peer_cold_start(bench: Bench) -> None:
    """The peer's, which takes ten seconds to end under runc."""

    def act() -> None:
        with peer.opened(bench.client, bench.runtime) as session:
            peer.run(session)
            bench.samples.setdefault(f"cold: {peer.NAME}", []).append((time.perf_counter() - began) * 1e3)
            for _ in range(10):
                with bench.timed(f"command: {peer.NAME}"):
                    peer.run(session)

    began = time.perf_counter()
    await asyncio.to_thread(act)


async def warm_claims(bench: Bench) -> None:
    """From the task's need to the first command's result, when a sandbox waits for it; lease and journal included."""
    await _warmed(bench)
    owner = bench.owner()
    with bench.timed("warm claim: ours, with journal"):
        await bench.ledger.begin(owner, "call", "0" * 64, "shell", "bench")
        lease = await bench.warm.lease(LeaseRequest(task_id=owner, user_id="bench"))
        box = await bench.warm.open(lease)
        await ran(box)
        await bench.ledger.finish(owner, "call", BlobRef(sha256="0" * 64, size=0))
    await bench.warm.release(lease)
    await _gone(bench, lease)
    await _warmed(bench)  # else it fills itself while the next cold start is timed


async def live(bench: Bench, rounds: int) -> None:
    """Commands, files and the freezer of one sandbox that is there, each beside the engine's own."""
    container = await asyncio.to_thread(floor.started, bench.client, bench.runtime)
    lease = await bench.cold.lease(LeaseRequest(task_id=bench.owner(), user_id="bench"))
    box = await bench.cold.open(lease)
    try:
        for _ in range(rounds):
            await _commands(bench, container, box)
        async with box.session() as session:
            for _ in range(rounds * 3):
                with bench.timed("command: ours, in a kept shell"):
                    await session.run(":")
        for _ in range(rounds):
            await _files(bench, container, box, "1 KB", SMALL)
        for _ in range(max(3, rounds // 4)):
            await _files(bench, container, box, "10 MB", LARGE)
        for _ in range(max(5, rounds // 2)):
            await _freezer(bench, container, lease)
    finally:
        await bench.cold.release(lease)
        await asyncio.to_thread(container.remove, force=True)


async def snapshots(bench: Bench) -> None:
    """A hundred new megabytes, then one more file; then the same sandbox asleep and awake again."""
    owner = bench.owner()
    lease = await bench.cold.lease(LeaseRequest(task_id=owner, user_id="bench"))
    box = await bench.cold.open(lease)
    await ran(box, "sh", "-c", f"head -c {CHANGED_MIB}M /dev/urandom >/workspace/changed.bin")
    with bench.timed(f"snapshot: {CHANGED_MIB} MB changed"):
        await bench.cold.snapshot(lease, "first")
    await ran(box, "sh", "-c", "echo more >/workspace/more.txt")
    with bench.timed("snapshot: the next, incremental"):
        await bench.cold.snapshot(lease, "second")
    await bench.cold.release(lease)


async def paused(bench: Bench, count: int) -> dict[str, float]:
    """Many paused sandboxes at once: what this process and the machine spend on each, in MiB."""
    own = psutil.Process()
    ctypes.CDLL(None).malloc_trim(0)  # else what is free here already would hide the growth
    before, free = own.memory_info().rss, psutil.virtual_memory().available
    leases = []
    for _ in range(count):
        lease = await bench.cold.lease(LeaseRequest(task_id=bench.owner(), user_id="bench"))
        await ran(await bench.cold.open(lease))
        leases.append(lease)
    grown, used = own.memory_info().rss - before, free - psutil.virtual_memory().available
    for lease in leases:
        await bench.cold.pause(lease)
    for lease in leases:
        await bench.cold.release(lease)
    for lease in leases:
        await _gone(bench, lease)
    return {"host process": grown / count / 1_048_576, "machine": used / count / 1_048_576}


async def _commands(bench: Bench, container: Container, box: OpenSandbox) -> None:
    with bench.timed("command: docker-py exec"):
        await asyncio.to_thread(floor.run, container, *TRUE)
    await asyncio.sleep(CALM_SECONDS)
    with bench.timed("command: ours"):
        await ran(box)
    call = bench.owner()
    with bench.timed("command: ours, with lease and journal"):
        await bench.ledger.begin(call, "call", "0" * 64, "shell", "bench")
        await ran(await bench.cold.open(box.lease))
        await bench.ledger.finish(call, "call", BlobRef(sha256="0" * 64, size=0))


async def _files(bench: Bench, container: Container, box: OpenSandbox, name: str, content: bytes) -> None:
    with bench.timed(f"{name} in and out: docker-py"):
        await asyncio.to_thread(floor.put_and_get, container, content)
    await asyncio.sleep(CALM_SECONDS)
    with bench.timed(f"{name} in and out: ours"):
        await box.files.write("bench.bin", content)
        if await box.files.read("bench.bin", max_bytes=len(content)) != content:
            raise RuntimeError("the sandbox gave back another content")


async def _freezer(bench: Bench, container: Container, lease: Lease) -> None:
    for name, theirs, ours in (
        ("pause", container.pause, bench.cold.pause),
        ("resume", container.unpause, bench.cold.resume),
    ):
        with bench.timed(f"{name}: docker-py"):
            await asyncio.to_thread(theirs)
        await _timed_call(bench, f"{name}: ours", ours, lease)


async def _timed_call(bench: Bench, name: str, call: Callable[[Lease], Awaitable[None]], lease: Lease) -> None:
    with bench.timed(name):
        await call(lease)


async def _first_command(bench: Bench, host: SandboxHost) -> Lease:
    lease = await host.lease(LeaseRequest(task_id=bench.owner(), user_id="bench"))
    await ran(await host.open(lease))
    return lease


async def ran(box: OpenSandbox, *argv: str) -> None:
    outcome = await box.run(Command(argv=argv or TRUE))
    if outcome.exit_code != 0:
        raise RuntimeError(f"{argv} ended with {outcome}")


async def _warmed(bench: Bench) -> None:
    await bench.warm.begin()
    while not sum(bench.warm.warm.values()):  # noqa: ASYNC110  the pool tells nobody that it is full
        await asyncio.sleep(0.05)


async def _gone(bench: Bench, lease: Lease) -> None:
    """Until the engine knows nothing of it any more."""
    with suppress(NotFound):
        while True:
            await asyncio.to_thread(bench.client.api.inspect_container, lease.sandbox_id)
            await asyncio.sleep(0.02)
