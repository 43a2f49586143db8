"""What the person lays down for the way out of sandboxes, whatever a single task was granted."""

from pydantic import Field

from contracts.messages import HostGrant
from contracts.values import Value


class EgressRules(Value):
    """The `egress` section of the policy file. It holds for every task; bytes and rates count for each by itself."""

    allowed: tuple[HostGrant, ...] = ()
    """Open to every task, beside what the task itself was granted."""
    blocked: tuple[str, ...] = ()
    """Never, with everything below the name, whatever grants it; `*` is every host."""
    methods: tuple[str, ...] = ()
    """The only methods that pass, such as `GET`; `CONNECT` is encrypted traffic that nobody looks into. Empty: any."""
    ports: tuple[int, ...] = ()
    """The only ports that pass, also for granted hosts. Empty: any that was granted."""
    bytes_up: int | None = Field(default=None, ge=0)
    """How much one task may send in all."""
    bytes_down: int | None = Field(default=None, ge=0)
    """How much one task may receive in all."""
    requests_per_minute: float | None = Field(default=None, gt=0)
    bytes_per_second: int | None = Field(default=None, gt=0)
    """Both directions together; more is slowed down, not refused."""
    inspect: tuple[str, ...] = ()
    """Hosts whose encrypted traffic is opened and judged request by request."""
    authorities: str | None = None
    """File of further certificate authorities that servers of inspected hosts may have."""
