"""Write the golden histories anew: `python -m tests.histories.record [--only NAME]`.

Each scenario runs on a real server with the wiring that the program has; only the activities follow a script.
"""

import argparse
import asyncio
import logging
import time
from collections.abc import Sequence
from pathlib import Path

from temporalio.client import Client

from gateway.cli.histories import write_histories
from gateway.histories import histories_of
from runtime.plugin import agent_os_plugin
from tests.histories.chats import CHATS
from tests.histories.keyring import FILE, fixed_keyring
from tests.histories.sandboxes import SANDBOXES
from tests.histories.tasks import TASKS
from tests.histories.traceless import traceless_plugin
from tests.server import temporal_server

FOLDER = Path(__file__).parent
SCENARIOS = TASKS | CHATS | SANDBOXES


def file_of(name: str) -> Path:
    """Where the history of a scenario lies."""
    return FOLDER / f"{name}.json"


def recorded() -> list[Path]:
    """The histories that lie there, whether a scenario still has their name or not."""
    return sorted(path for path in FOLDER.glob("*.json") if path != FILE)


async def record(names: Sequence[str]) -> None:
    """Run the scenarios one after the other on one server, and write what the server kept of them."""
    plugins = [agent_os_plugin(fixed_keyring()), traceless_plugin()]
    async with temporal_server(plugins=plugins, identity="golden") as environment:
        for name in names:
            begun = time.monotonic()
            await _record(environment.client, name)
            print(f"{name}: {time.monotonic() - begun:.1f} s", flush=True)  # noqa: T201  a command tells what it does


async def _record(client: Client, name: str) -> None:
    workflow_ids = await SCENARIOS[name](client)
    histories = [run for workflow_id in workflow_ids for run in await histories_of(client, workflow_id)]
    await asyncio.to_thread(write_histories, file_of(name), histories)


def _remove_what_no_scenario_writes() -> None:
    for path in recorded():
        if path.stem not in SCENARIOS:
            path.unlink()


def main() -> None:
    parser = argparse.ArgumentParser(description="Write the golden histories anew.")
    parser.add_argument("--only", choices=sorted(SCENARIOS), help="this one scenario")
    only: str | None = parser.parse_args().only
    if only is None:
        _remove_what_no_scenario_writes()
    logging.disable(logging.ERROR)  # the scenarios fail on purpose
    asyncio.run(record([only] if only else list(SCENARIOS)))


if __name__ == "__main__":
    main()
