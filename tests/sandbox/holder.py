"""A process that holds a sandbox tells the bytes its command has written, and is killed by a test."""

import asyncio
import sys
from pathlib import Path

from contracts.sandbox import Command, LeaseRequest
from tests.sandbox.engines import ENGINES


async def hold(engine: str, state_dir: str, task_id: str, script: str) -> None:
    host = await ENGINES[engine].host(Path(state_dir))
    sandbox = await host.open(await host.lease(LeaseRequest(task_id=task_id, user_id="u")))
    await sandbox.run(Command(script=script, call_id="the call"), lambda count: print(count, flush=True))  # noqa: T201  the test reads it


if __name__ == "__main__":
    asyncio.run(hold(*sys.argv[1:]))
