"""Removes what a crash or a terminated task has left on this host: every sandbox belongs to a task that still runs."""

import asyncio
import logging

from temporalio.client import Client
from temporalio.service import RPCError

from contracts.sandbox import SandboxUnavailable, SweepReport
from sandbox.host import SandboxHost
from workers.watching import is_open

SWEEP_SECONDS = 60.0

_log = logging.getLogger(__name__)


async def sweep_for_ever(host: SandboxHost, client: Client) -> None:
    """Sweep once a minute until cancelled; a server or an engine that is away is waited for."""
    while True:
        try:
            report = await sweep_once(host, client)
            if report != SweepReport():
                _log.warning("swept what no task owned: %s", report.model_dump_json())
        except (RPCError, SandboxUnavailable) as error:
            _log.warning("this sweep was left out: %s", error)
        await asyncio.sleep(SWEEP_SECONDS)


async def sweep_once(host: SandboxHost, client: Client) -> SweepReport:
    """Raises: RPCError, SandboxUnavailable."""
    leases = await host.leases()
    return await host.sweep([lease for lease in leases if await is_open(client, lease.task_id)])
