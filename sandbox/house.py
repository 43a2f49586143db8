"""What holds for the way out of every sandbox of this installation."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import h11

from contracts.egress import EgressRules
from contracts.kill import Brake, FreeRunning, Halted
from sandbox.blocklist import BlocklistFile
from sandbox.inspection import Inspection
from sandbox.metering import Meters

RulesSource = Callable[[], EgressRules]
"""Gives the rules in force; it may read a file, so it is called off the event loop."""


Closes = Callable[[str, str, str | None], str | None]
"""Takes a role, a host and a path, which is None where it cannot be seen; gives the block of the policy file that keeps
the role from there, or from a part of the host. It may read a file, so it is called off the event loop."""


def nothing_closed(_role: str, _host: str, _path: str | None) -> str | None:
    return None


@dataclass(frozen=True)
class HouseRules:
    """Without arguments: a grant opens a host, nothing is limited, nothing inspected."""

    rules: RulesSource = EgressRules
    blocklist: BlocklistFile | None = None
    inspection: Inspection | None = None
    """Without it a host that is listed for inspection is closed."""
    meters: Meters = field(default_factory=Meters)
    closes: Closes = nothing_closed
    """What roles never may, whatever was granted."""
    brake: Brake = field(default_factory=FreeRunning)
    """Cuts every request and tunnel, and keeps sandboxes from being made."""

    def heed(self, task_id: str) -> None:
        """Before a sandbox is made or woken. Raises: Halted."""
        kill = self.brake.halted("sandbox", task_id or None)
        if kill is not None:
            raise Halted(kill)


@dataclass(frozen=True)
class RequestHead:
    """The head of a request inside an opened tunnel, permitted and about to go out."""

    host: str
    port: int
    method: str
    target: bytes
    headers: tuple[tuple[bytes, bytes], ...]


Rewrite = Callable[[RequestHead], Awaitable[RequestHead]]
"""May change target and headers of a request to an inspected host, but not where it goes."""


async def unchanged(head: RequestHead) -> RequestHead:
    return head


async def rewritten(request: h11.Request, host: str, port: int, rewrite: Rewrite) -> h11.Request:
    """The request with what `rewrite` made of its target and headers."""
    method = request.method.decode("ascii")
    head = await rewrite(RequestHead(host, port, method, request.target, tuple(request.headers.raw_items())))
    return h11.Request(method=request.method, target=head.target, headers=list(head.headers))
