"""One request of a sandbox while the egress proxy serves it."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import h11

from sandbox.heads import Asked
from sandbox.metering import Counts
from sandbox.pumping import Reader, Writer
from sandbox.reaching import Far
from sandbox.rules import Laws
from sandbox.targets import Target, proxy_target


@dataclass(frozen=True)
class Side:
    """What a connection is: one to the proxy, or an opened tunnel to one place."""

    target_of: Callable[[h11.Request], Target | None] = proxy_target
    place: tuple[str, int] | None = None
    """Of the opened tunnel."""


@dataclass
class Exchange:
    """One request while it is served."""

    asked: Asked
    reader: Reader
    writer: Writer
    side: Side
    target: Target
    laws: Laws
    counts: Counts
    began: float = field(default_factory=time.monotonic)
    far: Far | None = None
    status: int = 0

    @property
    def may_be_followed(self) -> bool:
        """Whether both have said all of this request, so that the next one may come on the same connection."""
        client = self.asked.client
        return client.our_state is h11.DONE and client.their_state is h11.DONE
