"""How the stage runs: as the program does; for tests marked `replayed` also with no workflow kept in memory."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from temporalio.client import Client

from runtime.plugin import agent_os_plugin
from tests.histories.keyring import fixed_keyring
from tests.server import temporal_server
from tests.workflows.stage import MODE
from tests.workflows.twice import Twice

KEPT, NONE_KEPT = 100, 0


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def client() -> AsyncIterator[Client]:
    """One server for the tests of a module, of which each has workflows of its own and is alone while it runs."""
    plugin = agent_os_plugin(fixed_keyring(), sandboxed=MODE.sandboxed)
    async with temporal_server(plugins=[plugin], interceptors=MODE.interceptors) as environment:
        yield environment.client


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if metafunc.definition.get_closest_marker("replayed") and not metafunc.config.getoption("--uncached"):
        metafunc.parametrize("mode", [KEPT, NONE_KEPT], ids=["kept", "replayed"], indirect=True)


@pytest.fixture(autouse=True)
def mode(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a cache every workflow task replays from the start, which finds any non-determinism."""
    uncached = NONE_KEPT if request.config.getoption("--uncached") else KEPT
    monkeypatch.setattr(MODE, "cached", getattr(request, "param", uncached))
    if request.config.getoption("--twice"):
        monkeypatch.setattr(MODE, "interceptors", (Twice(),))
