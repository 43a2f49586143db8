"""The effect ledger as activities use it: one entry before an effect, one after it."""

from typing import Protocol

from contracts.blobs import BlobRef
from contracts.ledger import LedgerOutcome


class Ledger(Protocol):
    """Remembers, over every crash, which calls have begun and what they gave. Its key is task_id and call_id."""

    async def begin(self, task_id: str, call_id: str, args_sha256: str, tool: str, host: str) -> LedgerOutcome:
        """Journal that the call starts, durably before this returns; `host` names the place, sandbox included.

        A call that was begun before keeps its first entry. Raises: LedgerConflict.
        """
        ...

    async def finish(self, task_id: str, call_id: str, result_ref: BlobRef) -> None:
        """Journal what the call gave. The first result stays: finishing again changes nothing."""
        ...
