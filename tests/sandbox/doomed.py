"""A process that has a sandbox in every state at once, tells its leases, and is killed by a test."""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from contracts.sandbox import Command, Lease, LeaseRequest
from contracts.values import Value
from sandbox.choice import choose_driver
from sandbox.host import SandboxHost
from sandbox.limits import Limits
from tests.sandbox.engines import ENGINES
from tests.sandbox.host_stores import store_in

STATES = ("pausing", "thawing", "checkpointing", "saving", "leaving")


class Left(Value):
    """What the process tells before its end."""

    leases: dict[str, Lease]
    snapshot: str
    """Digest of one of the sandbox `pausing`."""


class Stuck:
    """Calls of an engine or a store that never return, from the one on that was asked for."""

    def __init__(self, owner: object) -> None:
        self._owner = owner

    def after(self, name: str) -> asyncio.Event:
        """The next call of this name is done, and its end never heard of."""
        return self._replace(name, lambda real, *words, **named: real(*words, **named))

    def before(self, name: str) -> asyncio.Event:
        """The next call of this name never begins."""
        return self._replace(name, lambda _real, *_words, **_named: asyncio.sleep(0))

    def _replace(self, name: str, act: Callable[..., Awaitable[Any]]) -> asyncio.Event:
        real, reached = getattr(self._owner, name), asyncio.Event()

        async def stuck(*words: object, **named: object) -> None:
            setattr(self._owner, name, real)
            await act(real, *words, **named)
            reached.set()
            await asyncio.Event().wait()

        setattr(self._owner, name, stuck)
        return reached


async def live_on_the_edge(engine: str, state_dir: Path) -> None:
    chosen, store = ENGINES[engine], store_in(state_dir)
    driver = await choose_driver(
        state_dir=state_dir, driver=chosen.driver, runtime=chosen.runtime, image="base", docker_host=""
    )
    host = SandboxHost(
        driver, host_id="test", state_dir=state_dir, snapshots=store, warm=1, limits=Limits(memory_mb=512)
    )
    leases = {name: await leased(host, name) for name in STATES}
    await ready(host)
    leases["claimed"] = await host.lease(LeaseRequest(task_id="claimed", user_id="u"))
    await ready(host)
    snapshot = await host.snapshot(leases["pausing"], "before")
    await host.pause(leases["thawing"])
    stuck, going = Stuck(driver), []

    def begin(call: Awaitable[object]) -> None:
        going.append(asyncio.ensure_future(call))

    reached = stuck.after("pause")
    begin(host.pause(leases["pausing"]))
    await reached.wait()
    reached = stuck.after("resume")
    begin(host.resume(leases["thawing"]))
    await reached.wait()
    if chosen.runtime == "runsc":
        reached = stuck.after("checkpoint")
        begin(host.sleep(leases["checkpointing"], "idle"))
        await reached.wait()
    reached = Stuck(store).before("take")
    begin(host.sleep(leases["saving"], "idle"))
    await reached.wait()
    reached = Stuck(store).before("restore")
    begin(host.lease(LeaseRequest(task_id="waking", user_id="u", image="base", restore=snapshot.digest)))
    await reached.wait()
    reached = stuck.before("destroy")
    begin(host.release(leases["leaving"]))
    await reached.wait()
    reached = stuck.after("create")
    begin(host.lease(LeaseRequest(task_id="creating", user_id="u", image="base")))
    await reached.wait()
    print(Left(leases=leases, snapshot=snapshot.digest).model_dump_json(), flush=True)  # noqa: T201  the test reads it
    await asyncio.gather(*going)


async def leased(host: SandboxHost, name: str) -> Lease:
    lease = await host.lease(LeaseRequest(task_id=name, user_id="u", image="base"))
    sandbox = await host.open(lease)
    await sandbox.run(Command(script=f"echo {name} > mark; nohup sleep 86311 >/dev/null 2>&1 & echo $! > pid"))
    return lease


async def ready(host: SandboxHost) -> None:
    while not sum(host.warm.values()):  # noqa: ASYNC110  nobody tells what this waits for
        await asyncio.sleep(0.05)


if __name__ == "__main__":
    asyncio.run(live_on_the_edge(sys.argv[1], Path(sys.argv[2])))
