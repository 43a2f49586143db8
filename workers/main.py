"""Starts a worker: `python -m workers.main` runs workflows, planning and sandboxes until it is told to stop."""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from temporalio.client import Client
from temporalio.worker import Worker

from contracts.queues import CONTROL, HOSTS, WORKFLOWS, host_queue
from runtime import addresses
from runtime.health import Health, Report
from runtime.service import Service, run_service
from runtime.settings import Settings
from runtime.temporal import prepare_namespace
from runtime.web import serve as serve_http
from workers.host_api.app import build_app
from workers.parts import Parts, open_parts
from workers.sweeping import keep_sweeping
from workflows.conversation import ConversationWorkflow
from workflows.sandbox import SandboxWorkflow
from workflows.sweep import SweepWorkflow
from workflows.task import TaskWorkflow

NAME = "worker"

GRACE = timedelta(seconds=8)
"""What running activities get to end by themselves; a command in a sandbox goes on without its worker."""

STICKY = timedelta(seconds=2)
"""How long a workflow waits for the worker that has it cached, before another one replays it (default 10 s)."""

HEARTBEATS = timedelta(seconds=1)
"""How often a heartbeat is passed on; it bounds how late a cancellation arrives."""

CACHED_WORKFLOWS = 1_000

WAITING_NEEDS = 1_000
"""A task that waits for a host with room holds a place of its queue."""

NEW_SANDBOXES = 8
"""How many are made at the same time; more would only make each of them slower."""


@dataclass(frozen=True)
class Served:
    """One task queue, and what is done for it here."""

    queue: str
    activities: Sequence[Callable[..., Any]]
    at_once: int = 100


def served(parts: Parts, settings: Settings) -> list[Served]:
    """All queues of this worker beside the one for workflows and planning."""
    here = [] if settings.worker_role == "control" else sandboxes(parts, settings)
    return here if settings.worker_role == "host" else [control(parts), *here]


def control(parts: Parts) -> Served:
    """What needs no sandbox."""
    return Served(
        CONTROL,
        [
            parts.acting.run_tool,
            parts.watching.task_is_open,
            parts.watching.what_task_took_in,
            parts.watching.await_lift,
            parts.placing.acquire_sandbox,
        ],
        at_once=WAITING_NEEDS,
    )


def sandboxes(parts: Parts, settings: Settings) -> list[Served]:
    """What is done on the machine that holds a sandbox, or will."""
    leasing = parts.leasing
    here: list[Callable[..., Any]] = [
        parts.acting.run_tool,
        parts.acting.fingerprint,
        leasing.pause_sandbox,
        leasing.resume_sandbox,
        leasing.snapshot_sandbox,
        leasing.sleep_sandbox,
        leasing.release_sandbox,
        parts.undoing.undo_in_sandbox,
        parts.sweeping.sweep_host,
    ]
    return [
        Served(HOSTS, [leasing.lease_sandbox, leasing.reclaim_sandbox], at_once=NEW_SANDBOXES),
        Served(host_queue(settings.host_id), here, at_once=4 * settings.max_sandboxes),
    ]


def workers_of(client: Client, parts: Parts, settings: Settings) -> list[Worker]:
    """One Temporal worker for each queue."""
    workflows = [] if settings.worker_role == "host" else [thinking(client, parts)]
    others = [
        Worker(
            client,
            task_queue=each.queue,
            activities=each.activities,
            max_concurrent_activities=each.at_once,
            max_heartbeat_throttle_interval=HEARTBEATS,
            default_heartbeat_throttle_interval=HEARTBEATS,
            graceful_shutdown_timeout=GRACE,
        )
        for each in served(parts, settings)
    ]
    return [*workflows, *others]


def thinking(client: Client, parts: Parts) -> Worker:
    """What runs workflows, judges and plans."""
    return Worker(
        client,
        task_queue=WORKFLOWS,
        workflows=[TaskWorkflow, ConversationWorkflow, SandboxWorkflow, SweepWorkflow],
        activities=[parts.judging.judge, parts.noting.note_approval, parts.planning.plan],
        max_cached_workflows=CACHED_WORKFLOWS,
        sticky_queue_schedule_to_start_timeout=STICKY,
        graceful_shutdown_timeout=GRACE,
    )


@asynccontextmanager
async def working(client: Client, parts: Parts, settings: Settings) -> AsyncIterator[list[Worker]]:
    """All workers at work; leaving stops them in order, workflows last, so that they hear of what was cut off."""
    workers = workers_of(client, parts, settings)
    async with AsyncExitStack() as stack:
        for worker in workers:
            await stack.enter_async_context(worker)
        yield workers


async def serve(service: Service, stop: asyncio.Event) -> None:
    """Work until `stop` is set. Raises: RuntimeError if a part fails, so that the process ends and is started anew."""
    settings = service.settings
    async with open_parts(settings, service.redactor, service.telemetry.runtime) as parts:
        await prepare_namespace(parts.client, None if settings.temporal_address else settings.retention_days)
        async with working(parts.client, parts, settings) as workers:
            if settings.worker_role != "control":
                await keep_sweeping(parts.client, settings.host_id, timedelta(seconds=settings.sandbox_sweep_seconds))
            async with parts.watcher.watching(), serve_host(parts, settings, lambda: health(workers, settings)):
                await until_stopped(stop, workers)


async def until_stopped(stop: asyncio.Event, workers: list[Worker]) -> None:
    """Wait for the stop. Raises: RuntimeError if a worker ends before it."""
    while not stop.is_set():
        with suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), 1.0)
        ended = [worker.task_queue for worker in workers if not worker.is_running]
        if ended and not stop.is_set():
            raise RuntimeError(f"the workers of these queues have ended by themselves: {', '.join(ended)}")


@asynccontextmanager
async def serve_host(parts: Parts, settings: Settings, report: Report) -> AsyncIterator[None]:
    """Offer health, files and terminals while the block runs. Raises: PortInUse."""
    also = addresses.host_listens(settings)
    async with serve_http(build_app(parts.entry, report), settings.worker_port, setting="ASOS_WORKER_PORT", also=also):
        yield


def health(workers: list[Worker], settings: Settings) -> Health:
    """Healthy as long as every queue is served."""
    running = {worker.task_queue: worker.is_running for worker in workers}
    return Health(healthy=all(running.values()), detail={"queues": dict(running), "host": settings.host_id})


def main() -> int:
    """Gives the exit code."""
    return run_service(NAME, lambda settings: settings.metrics_port, serve)


if __name__ == "__main__":
    sys.exit(main())
