"""What the effect ledger answers when a call is about to run: it is new, it is done, or nobody knows."""

from dataclasses import dataclass
from datetime import datetime

from contracts.blobs import BlobRef


class LedgerConflict(Exception):
    """Raised when a call id comes back with other arguments than it was begun with."""


@dataclass(frozen=True)
class Begun:
    """Nobody has begun this call before; it is journalled now and may run."""


@dataclass(frozen=True)
class Done:
    """The call has run to its end, and this is what it gave."""

    result_ref: BlobRef


@dataclass(frozen=True)
class InDoubt:
    """An earlier attempt began the call and never recorded its end."""

    started_at: datetime
    host: str
    """The place given to `begin` by that attempt."""


LedgerOutcome = Begun | Done | InDoubt
