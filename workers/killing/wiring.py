"""Puts together what a worker needs to be stopped."""

from dataclasses import dataclass

from temporalio.client import Client

from contracts.audit import Recorder
from contracts.kill import Kill
from gateway.telling import Telling, others
from runtime.host_token import host_token
from runtime.keys import Keyring
from runtime.killing.brake import FileBrake
from runtime.killing.state import StateFile
from runtime.killing.switch import KillSwitch
from runtime.paths import DataPaths
from runtime.second_factor import SecondFactor
from runtime.settings import Settings
from sandbox.host import SandboxHost
from sandbox.slaying import Quarters
from workers.host_api.kill import KillDoor
from workers.killing.stopping import Stopping
from workers.killing.watcher import Watcher


@dataclass(frozen=True)
class Halting:
    """The watcher, and the door by which other machines stop this one."""

    watcher: Watcher
    door: KillDoor


def quarters_of(settings: Settings, paths: DataPaths, host_id: str) -> Quarters:
    """Where a host of this data folder has its sandboxes."""
    return Quarters(host_id, paths.sandboxes / host_id, settings.docker_host)


def halting_of(
    settings: Settings, keyring: Keyring, brake: FileBrake, host: SandboxHost, client: Client, recorder: Recorder
) -> Halting:
    """For a worker with these settings."""
    paths = DataPaths(settings.data_dir)
    stopping = Stopping(host, quarters_of(settings, paths, settings.host_id))
    switch = KillSwitch(StateFile.of(paths, keyring), SecondFactor(paths, keyring).verify)

    async def tell(kill: Kill) -> None:
        await Telling(others(settings, paths), host_token(keyring), kill.by).kill(kill)

    leads = settings.worker_role != "host"
    return Halting(
        Watcher(brake, stopping, client if leads else None, recorder, tell if leads else _to_nobody),
        KillDoor(switch, stopping, recorder),
    )


async def _to_nobody(_kill: Kill) -> None:
    """A host that only holds sandboxes knows of no others."""
