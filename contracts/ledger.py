"""What the effect ledger answers when a call is about to run: it is new, it is done, or nobody knows."""

from datetime import datetime
from typing import Literal

from contracts.blobs import BlobRef
from contracts.values import Value


class CallChanged(Exception):
    """Raised when a call id comes back with another tool or other arguments than it began with."""


class Begun(Value):
    """The call is new, and now on disk as begun: its effect may happen."""

    kind: Literal["begun"] = "begun"


class Done(Value):
    """The effect has happened; here is what it gave."""

    kind: Literal["done"] = "done"
    result_ref: BlobRef


class InDoubt(Value):
    """An earlier attempt began and its end is not recorded: the effect may have happened, or still be happening."""

    kind: Literal["in_doubt"] = "in_doubt"
    started_at: datetime
    host: str
    """The place that the earlier attempt gave: its host, and the sandbox if it used one."""
