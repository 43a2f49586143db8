"""A Temporal dev server of its own for a test: queues have fixed names, so sharing one would mix the tests up."""

import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from temporalio.client import Interceptor, Plugin
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.converter import DataConverter
from temporalio.testing import WorkflowEnvironment

from contracts import search

TEMPORAL = Path(sys.executable).with_name("temporal")

TUNED = [
    "--dynamic-config-value",
    "history.transferProcessorMaxPollRPS=2000",
    "--dynamic-config-value",
    "history.timerProcessorMaxPollRPS=2000",
    "--dynamic-config-value",
    "frontend.WorkerCommandsEnabled=true",
    "--dynamic-config-value",
    "system.enableCancelActivityWorkerCommand=true",
    "--dynamic-config-value",
    "frontend.WorkflowTimeSkippingEnabled=true",
]


@asynccontextmanager
async def temporal_server(
    *,
    plugins: Sequence[Plugin] = (),
    data_converter: DataConverter = pydantic_data_converter,
    interceptors: Sequence[Interceptor] = (),
    identity: str | None = None,
) -> AsyncIterator[WorkflowEnvironment]:
    """The server of the wheel, in memory, with the search attributes registered.

    `identity` is how the client and its workers are named in histories; None takes the process and its machine.
    """
    environment = await WorkflowEnvironment.start_local(
        dev_server_existing_path=str(TEMPORAL),
        dev_server_log_level="error",
        dev_server_extra_args=TUNED,
        search_attributes=list(search.ALL),
        plugins=list(plugins),
        data_converter=data_converter,
        interceptors=list(interceptors),
        identity=identity,
    )
    try:
        yield environment
    finally:
        await environment.shutdown()
