"""One sandbox for each engine and test module; the engine's address comes from the surroundings, as docker has it."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from contracts.sandbox import LeaseRequest, SandboxUnavailable
from sandbox.engine import runtimes
from sandbox.host import SandboxHost
from sandbox.session import OpenSandbox
from tests.sandbox.engines import ENGINES, Engine


@pytest.fixture(
    scope="module",
    params=[
        "bubblewrap",
        pytest.param("runc", marks=pytest.mark.engine),
        pytest.param("runsc", marks=pytest.mark.engine),
    ],
)
def engine(request: pytest.FixtureRequest) -> Engine:
    chosen = ENGINES[request.param]
    if chosen.driver == "docker":
        try:
            known = asyncio.run(runtimes(""))
        except SandboxUnavailable as error:
            pytest.skip(str(error))
        if chosen.runtime not in known:
            pytest.skip(f"the engine has no runtime {chosen.runtime}")
    return chosen


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def host(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[SandboxHost]:
    made = await engine.host(tmp_path_factory.mktemp("state"))
    yield made
    await made.sweep([])
    await made.close()


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def box(host: SandboxHost) -> AsyncIterator[OpenSandbox]:
    lease = await host.lease(LeaseRequest(task_id="shared", user_id="u"))
    yield await host.open(lease)
    await host.release(lease)


@pytest_asyncio.fixture
async def home(engine: Engine, tmp_path: Path) -> AsyncIterator[SandboxHost]:
    """A host of one test alone; what the test leaves behind is removed."""
    made = await engine.host(tmp_path)
    yield made
    await made.sweep([])
    await made.close()
