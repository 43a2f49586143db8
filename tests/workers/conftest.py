"""One host with one sandbox, served over real HTTP, for each module."""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

import pytest
import pytest_asyncio

from audit.log import AuditLog
from audit.places import AuditPlaces
from audit.recorder import LogRecorder
from contracts.sandbox import Lease, LeaseRequest
from gateway.host_client import HostClient
from runtime.confidential import Confidential
from runtime.health import Health
from runtime.web import LOOPBACK_NAMES, serve
from sandbox.session import OpenSandbox
from tests.histories.keyring import fixed_keyring
from tests.sandbox.engines import ENGINES
from workers.host_api.app import Entry, build_app
from workers.host_api.doors import Doors

TOKEN = "a-token-of-this-test"
MAX_BYTES = 96 * 1_048_576


@dataclass(frozen=True)
class Served:
    """What a test speaks with, and what it looks behind."""

    url: str
    box: OpenSandbox
    log: AuditLog
    words: Confidential
    client: HostClient
    another: Callable[[str], HostClient]
    """A client with this token."""
    doors: Doors

    @property
    def lease(self) -> Lease:
        return self.box.lease


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def served(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Served]:
    folder = tmp_path_factory.mktemp("host")
    host = await ENGINES["bubblewrap"].host(folder)
    log = await AuditLog.open(AuditPlaces.below(folder / "audit"))
    request = LeaseRequest(task_id="task-of-files", user_id="u")
    first = await host.lease(request)
    lease = await host.lease(request.model_copy(update={"previous_epoch": first.epoch}))
    words = Confidential(fixed_keyring(), lambda text: text)
    doors = Doors(host, LogRecorder(log, words.seal), host_id="test", max_bytes=MAX_BYTES)
    entry = Entry(doors, TOKEN, LOOPBACK_NAMES)
    async with serve(build_app(entry, lambda: Health(healthy=True)), 0, setting="ASOS_WORKER_PORT") as port:
        url = f"http://127.0.0.1:{port}"
        async with HostClient(url, TOKEN, "console:me") as client:
            yield Served(
                url,
                await host.open(lease),
                log,
                words,
                client,
                lambda token: HostClient(url, token, "console:me"),
                doors,
            )
    await host.release(lease)
    await host.close()
    await log.close()
