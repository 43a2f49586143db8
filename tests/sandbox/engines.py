"""The engines that the one suite runs over."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from sandbox.choice import make_host
from sandbox.host import SandboxHost
from sandbox.saving import Snapshots
from sandbox.warm import WarmKind


@dataclass(frozen=True)
class Engine:
    """A driver with its runtime."""

    driver: Literal["docker", "bubblewrap"]
    runtime: str

    async def host(
        self,
        state_dir: Path,
        host_id: str = "test",
        *,
        most: int = 16,
        most_per_user: int | None = None,
        wait_seconds: float = 0.0,
        warm: Mapping[WarmKind, int] | int = 0,
        snapshots: Snapshots | None = None,
        output_mb: int = 4,
        disk_mb: int = 10_240,
        docker_host: str = "",
    ) -> SandboxHost:
        return await make_host(
            host_id=host_id,
            state_dir=state_dir,
            driver=self.driver,
            runtime=self.runtime,
            image="base",
            docker_host=docker_host,
            memory_mb=512,
            disk_mb=disk_mb,
            processes=200,
            output_mb=output_mb,
            max_sandboxes=most,
            max_sandboxes_per_user=most_per_user,
            wait_seconds=wait_seconds,
            warm=warm,
            snapshots=snapshots,
            sweep_grace_seconds=0,
        )


ENGINES = {
    "bubblewrap": Engine("bubblewrap", "auto"),
    "runc": Engine("docker", "runc"),
    "runsc": Engine("docker", "runsc"),
}
