"""The engines that the one suite runs over."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from sandbox.choice import make_host
from sandbox.host import SandboxHost


@dataclass(frozen=True)
class Engine:
    """A driver with its runtime."""

    driver: Literal["docker", "bubblewrap"]
    runtime: str

    async def host(
        self, state_dir: Path, host_id: str = "test", *, most: int = 16, output_mb: int = 4, disk_mb: int = 10_240
    ) -> SandboxHost:
        return await make_host(
            host_id=host_id,
            state_dir=state_dir,
            driver=self.driver,
            runtime=self.runtime,
            image="base",
            memory_mb=512,
            disk_mb=disk_mb,
            processes=200,
            output_mb=output_mb,
            max_sandboxes=most,
            sweep_grace_seconds=0,
        )


ENGINES = {
    "bubblewrap": Engine("bubblewrap", "auto"),
    "runc": Engine("docker", "runc"),
    "runsc": Engine("docker", "runsc"),
}
