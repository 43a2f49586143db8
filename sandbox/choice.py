"""Which driver an installation gets, and the host made of it."""

import resource
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from contracts.language import Language
from contracts.sandbox import SandboxUnavailable
from sandbox.driver import Driver
from sandbox.drivers import bubblewrap, docker
from sandbox.engine import runtimes
from sandbox.host import SandboxHost
from sandbox.house import HouseRules
from sandbox.limits import Limits
from sandbox.opened import OnEgress
from sandbox.saving import Snapshots
from sandbox.warm import WarmKind


async def choose_driver(
    *,
    state_dir: Path,
    driver: Literal["auto", "docker", "bubblewrap"] = "auto",
    runtime: str = "auto",
    image: str = "browser",
    docker_host: str = "",
    volume_driver: str = "",
    volume_options: Mapping[str, str] | None = None,
    language: Language = "en",
) -> Driver:
    """auto takes docker if an engine answers, else bubblewrap. Whether it works is seen at the first lease."""
    if driver == "docker" or (driver == "auto" and await _engine_answers(docker_host)):
        return docker.Driver(
            docker_host=docker_host,
            runtime=runtime,
            image=image,
            volume_driver=volume_driver,
            volume_options=volume_options,
            language=language,
        )
    return bubblewrap.Driver(state_dir=state_dir, runtime=runtime, language=language)


async def make_host(
    *,
    host_id: str,
    state_dir: Path,
    driver: Literal["auto", "docker", "bubblewrap"] = "auto",
    runtime: str = "auto",
    image: str = "browser",
    docker_host: str = "",
    memory_mb: int = 2_048,
    cpus: float = 2.0,
    processes: int = 1_024,
    output_mb: int = 64,
    disk_mb: int = 10_240,
    wall_seconds: float = 3_600.0,
    volume_driver: str = "",
    volume_options: Mapping[str, str] | None = None,
    max_sandboxes: int = 16,
    max_sandboxes_per_user: int | None = None,
    wait_seconds: float = 15.0,
    warm: Mapping[WarmKind, int] | int = 0,
    snapshots: Snapshots | None = None,
    on_egress: OnEgress = lambda _lease, _record: None,
    house: HouseRules | None = None,
    sweep_grace_seconds: float = 60.0,
    api_url: str = "",
    language: Language = "en",
) -> SandboxHost:
    """A host from plain settings; `state_dir` is its own, for its owner alone. It begins at its first use, or by
    `begin`, which makes the warm sandboxes. It closes `snapshots` when it is closed."""
    limits = Limits(
        memory_mb=memory_mb,
        cpus=cpus,
        processes=processes,
        output_mb=output_mb,
        # An engine in a container may not raise what it was given itself; neither was this process then.
        open_files=min(Limits.open_files, resource.getrlimit(resource.RLIMIT_NOFILE)[1]),
        disk_mb=disk_mb,
        wall_seconds=wall_seconds,
    )
    chosen = await choose_driver(
        state_dir=state_dir,
        driver=driver,
        runtime=runtime,
        image=image,
        docker_host=docker_host,
        volume_driver=volume_driver,
        volume_options=volume_options,
        language=language,
    )
    return SandboxHost(
        chosen,
        host_id=host_id,
        state_dir=state_dir,
        snapshots=snapshots,
        max_sandboxes=max_sandboxes,
        max_sandboxes_per_user=max_sandboxes_per_user,
        wait_seconds=wait_seconds,
        warm=warm,
        limits=limits,
        on_egress=on_egress,
        house=house,
        sweep_grace_seconds=sweep_grace_seconds,
        api_url=api_url,
        language=language,
    )


async def _engine_answers(docker_host: str) -> bool:
    try:
        await runtimes(docker_host)
    except SandboxUnavailable:
        return False
    return True
