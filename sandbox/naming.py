"""What the sandboxes of a host are called, and how the engine and the tasks hear of them."""

import secrets
from dataclasses import dataclass

from contracts.queues import host_queue
from contracts.sandbox import Lease
from sandbox.driver import Spec
from sandbox.limits import Limits
from sandbox.records import Record, Register


@dataclass(frozen=True)
class Names:
    """Of one host of one installation."""

    host_id: str
    driver: str
    register: Register
    limits: Limits
    api_url: str = ""

    @property
    def owner(self) -> str:
        """The mark on everything of this host; known once the register is open."""
        return f"{self.host_id}-{self.register.installation}"

    def new(self) -> str:
        """A sandbox's name, used once."""
        return f"asos-{self.owner}-{secrets.token_hex(8)}"

    def spec(self, record: Record, image: str = "") -> Spec:
        return Spec(record.sandbox_id, self.owner, image or record.image, record.runtime, self.limits)

    def lease(self, record: Record) -> Lease:
        """Of a sandbox that nobody has leased yet, the one its connection bears until then."""
        return Lease(
            sandbox_id=record.sandbox_id,
            task_id=record.owner,
            host_id=self.host_id,
            task_queue=host_queue(self.host_id),
            epoch=max(record.epoch, 1),
            driver=self.driver,
            runtime=record.runtime,
            image=record.image,
            restored=record.restored,
            processes_restored=record.processes_restored,
            api_url=self.api_url,
        )
