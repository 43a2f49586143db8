"""Machines of one installation, each with its own engine: real hosts behind the activities that workflows call."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from temporalio import activity
from temporalio.client import Client
from temporalio.worker import Worker

from activities.failures import refused
from activities.leasing import Leasing
from contracts.activities import Acting, RunOutcome, RunRequest
from contracts.provenance import Provenance
from contracts.queues import HOSTS, host_queue
from contracts.sandbox import Command, SandboxLost
from contracts.transcript import ToolTurn
from runtime.plugin import agent_os_plugin
from sandbox.host import SandboxHost
from sandbox.snapshots.opening import open_snapshots
from sandbox.snapshots.sealing import SnapshotKeys
from tests.histories.keyring import fixed_keyring
from tests.sandbox.engines import ENGINES

KEYS = SnapshotKeys.from_secret(b"a secret of the tests, and only theirs")


class Running(Acting):
    """Runs the script of a call in its sandbox."""

    def __init__(self, host: SandboxHost) -> None:
        self._host = host

    @activity.defn(name="run_tool")
    async def run_tool(self, request: RunRequest) -> RunOutcome:
        call = request.judged.call
        assert request.lease is not None
        assert call.args is not None
        try:
            sandbox = await self._host.open(request.lease)
        except SandboxLost as error:
            raise refused(error) from error
        outcome = await sandbox.run(Command(script=str(call.args["script"]), call_id=call.call_id))
        said = outcome.stdout.head.decode().strip()
        turn = ToolTurn(call_id=call.call_id, tool=call.tool, ok=outcome.exit_code == 0, headline=said)
        return RunOutcome(turn=turn, provenance=Provenance(trusted=True))


@dataclass(frozen=True)
class Machine:
    """What a host keeps in `folder` is its own; the store of snapshots is everybody's."""

    server: str
    """Address of the installation's Temporal server."""
    host_id: str
    folder: Path
    store: Path
    docker_host: str = ""

    @asynccontextmanager
    async def working(self) -> AsyncIterator[SandboxHost]:
        """Leaving ends the worker, and leaves the sandboxes as they are."""
        snapshots = open_snapshots(str(self.store), KEYS, scratch=self.folder / "scratch")
        host = await ENGINES["runc"].host(self.folder, self.host_id, snapshots=snapshots, docker_host=self.docker_host)
        # One client serves a queue once in a process, and all machines serve the one of all hosts.
        client = await Client.connect(self.server, plugins=[agent_os_plugin(fixed_keyring())])
        leasing = Leasing(host, snapshots)
        here: list[Callable[..., object]] = [
            Running(host).run_tool,
            leasing.pause_sandbox,
            leasing.resume_sandbox,
            leasing.snapshot_sandbox,
            leasing.sleep_sandbox,
            leasing.release_sandbox,
        ]
        try:
            async with (
                Worker(client, task_queue=HOSTS, activities=[leasing.lease_sandbox, leasing.reclaim_sandbox]),
                Worker(client, task_queue=host_queue(self.host_id), activities=here),
            ):
                yield host
        finally:
            await host.close()
