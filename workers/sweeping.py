"""Removes what a crash or a terminated task has left on this host: every sandbox belongs to a task that still runs."""

import asyncio
import logging

from temporalio.client import Client
from temporalio.service import RPCError

from contracts.sandbox import SandboxUnavailable
from sandbox.host import SandboxHost
from workers.watching import is_open

SWEEP_SECONDS = 60.0

_log = logging.getLogger(__name__)


async def sweep_for_ever(host: SandboxHost, client: Client) -> None:
    """Sweep once a minute until cancelled; a server or an engine that is away is waited for."""
    while True:
        try:
            removed = await sweep_once(host, client)
            if removed:
                _log.warning("removed %d sandboxes whose tasks have ended", removed)
        except (RPCError, SandboxUnavailable) as error:
            _log.warning("this sweep was left out: %s", error)
        await asyncio.sleep(SWEEP_SECONDS)


async def sweep_once(host: SandboxHost, client: Client) -> int:
    """How many sandboxes were removed. Raises: RPCError, SandboxUnavailable."""
    task_ids = await host.tasks()
    living = [task_id for task_id in task_ids if await is_open(client, task_id)]
    return await host.sweep(living)
