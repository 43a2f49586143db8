"""What an agent step costs beyond the barest durable loop, and how soon a person sees that their message arrived.

The first: plan, judge and tool, all no-ops, against two no-op activities on the same server. The second: the whole
installation and a local Bot API server, from the moment when the platform has a message to the bot's first call for it.
"""

import asyncio
import os
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from random import SystemRandom

from temporalio.client import Client, WorkflowHistory
from temporalio.testing import WorkflowEnvironment
from temporalio.worker import Worker

from bench._bare import BareLoop, first, second
from bench._noop import HOST, Noop
from bench._report import arguments, report, spread
from contracts import search
from contracts.ids import ulid
from contracts.lifecycle import Lifetimes
from contracts.messages import Address
from contracts.queues import CONTROL, HOSTS, WORKFLOWS, host_queue, task_workflow_id
from contracts.task import TaskInput, TaskRecord
from contracts.transcript import UserTurn
from contracts.verdicts import Actor
from runtime.keys import Keyring
from runtime.plugin import agent_os_plugin
from runtime.stack.parts import DYNAMIC_CONFIG, SQLITE_PRAGMAS, temporal_binary
from tests.e2e.paired import Paired, paired
from workers.placing import Placing
from workflows.sandbox import SandboxWorkflow
from workflows.task import TaskWorkflow

STEPS = 100
ROUNDS = 9
QUICK_ROUNDS = 3
WARM_UP_ROUNDS = 1
MESSAGES = 60
QUICK_MESSAGES = 8
VISIBLE = frozenset({"sendMessage", "sendChatAction", "setMessageReaction"})
"""Calls by which the person notices something."""


@asynccontextmanager
async def tuned_server(folder: Path) -> AsyncIterator[str]:
    """The embedded server as `asos up` starts it: SQLite file with WAL, and the tuned flags."""
    flags = [text for value in DYNAMIC_CONFIG for text in ("--dynamic-config-value", value)]
    flags += [text for value in SQLITE_PRAGMAS for text in ("--sqlite-pragma", value)]
    environment = await WorkflowEnvironment.start_local(
        dev_server_existing_path=str(temporal_binary()),
        dev_server_database_filename=str(folder / "temporal.db"),
        dev_server_extra_args=flags,
        dev_server_log_level="error",
        search_attributes=list(search.ALL),
    )
    try:
        yield environment.client.service_client.config.target_host
    finally:
        await environment.shutdown()


@asynccontextmanager
async def our_workers(client: Client, noop: Noop) -> AsyncIterator[None]:
    """The queues of a real worker, with activities that do nothing."""
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(
            Worker(
                client,
                task_queue=WORKFLOWS,
                workflows=[TaskWorkflow, SandboxWorkflow],
                activities=[noop.judge, noop.plan],
            )
        )
        placing = Placing(client, Lifetimes())
        await stack.enter_async_context(Worker(client, task_queue=CONTROL, activities=[placing.acquire_sandbox]))
        await stack.enter_async_context(Worker(client, task_queue=HOSTS, activities=[noop.lease_sandbox]))
        here: list[Callable[..., object]] = [noop.run_tool, noop.sleep_sandbox]
        await stack.enter_async_context(Worker(client, task_queue=host_queue(HOST), activities=here))
        yield


def task() -> TaskInput:
    now = datetime.now(UTC)
    return TaskInput(
        record=TaskRecord(task_id=ulid(now, SystemRandom()), created_at=now),
        request=UserTurn(text="bench", at=now),
        goal="bench",
        actor=Actor(user_id="console:bench", role="owner", channel="console"),
        address=Address(channel="console", chat_id="bench"),
        language="en",
        pushes=False,
    )


async def one_task(client: Client) -> str:
    given = task()
    workflow_id = task_workflow_id(given.record.task_id)
    await client.execute_workflow(TaskWorkflow.run, given, id=workflow_id, task_queue=WORKFLOWS)
    return workflow_id


async def one_bare_loop(client: Client) -> str:
    workflow_id = f"bare-{SystemRandom().getrandbits(64):x}"
    await client.execute_workflow(BareLoop.run, STEPS, id=workflow_id, task_queue="bare")
    return workflow_id


async def timed(work: Callable[[], Awaitable[str]]) -> tuple[float, str]:
    """Milliseconds for each of the STEPS, and the workflow's id."""
    begun = time.perf_counter()
    workflow_id = await work()
    return (time.perf_counter() - begun) / STEPS * 1000, workflow_id


def sizes(history: WorkflowHistory) -> dict[str, float]:
    """Events and bytes of history for each step."""
    return {
        "events": len(history.events) / STEPS,
        "bytes": sum(event.ByteSize() for event in history.events) / STEPS,
    }


async def measure(rounds: int) -> tuple[dict[str, dict[str, float]], dict[str, float]]:
    """Both loops in turn, the order changing with each round, so that neither always comes first."""
    noop = Noop(STEPS)
    samples: dict[str, list[float]] = {"agent step": [], "bare step": []}
    with tempfile.TemporaryDirectory() as name:
        async with tuned_server(Path(name)) as target, AsyncExitStack() as stack:
            plain = await Client.connect(target)
            ours = await Client.connect(target, plugins=[agent_os_plugin(Keyring.load(Path(name) / "data"))])
            await stack.enter_async_context(our_workers(ours, noop))
            await stack.enter_async_context(
                Worker(plain, task_queue="bare", workflows=[BareLoop], activities=[first, second])
            )
            ids: dict[str, str] = {}
            for number in range(WARM_UP_ROUNDS + rounds):
                loops = [("agent step", lambda: one_task(ours)), ("bare step", lambda: one_bare_loop(plain))]
                for kind, work in loops if number % 2 else reversed(loops):
                    milliseconds, ids[kind] = await timed(work)
                    if number >= WARM_UP_ROUNDS:
                        samples[kind].append(milliseconds)
            figures = {kind: spread(values) for kind, values in samples.items()}
            for kind, workflow_id in ids.items():
                figures[kind] |= sizes(await plain.get_workflow_handle(workflow_id).fetch_history())
    pairs = [mine / bare for mine, bare in zip(samples["agent step"], samples["bare step"], strict=True)]
    ratios = {
        "agent step to bare step, median of the rounds": spread(pairs)["p50"],
        "agent step to bare step, by the least of each": figures["agent step"]["min"] / figures["bare step"]["min"],
    }
    return figures, ratios


def reactions(messages: int) -> list[float]:
    """Milliseconds from a message to the first thing that its sender sees of it, one message after the other."""
    with tempfile.TemporaryDirectory() as name, paired(Path(name)) as home:
        found = [reaction(home, number) for number in range(messages + 1)]
    return found[1:]  # the first message also starts the mailbox


def reaction(home: Paired, number: int) -> float:
    """Say one thing, and come back when its answer is there."""
    talk = home.talk()
    begun = time.monotonic()
    talk.say(f"/help {number}")
    talk.hears("/run", final=True)
    calls = home.cloud.calls()
    seen = min(call["at"] for call in calls if call["method"] in VISIBLE and call["at"] > begun)
    return float(seen - begun) * 1000


def main() -> None:
    given = arguments(__doc__)
    figures, ratios = asyncio.run(measure(QUICK_ROUNDS if given.quick else ROUNDS))
    figures["first reaction to a message"] = spread(reactions(QUICK_MESSAGES if given.quick else MESSAGES))
    title = f"milliseconds; the steps of tasks with {STEPS} of them, with their events and bytes of history"
    report(title, figures, ratios, given, f"server, workers and client in one place, pid {os.getpid()}")


if __name__ == "__main__":
    main()
