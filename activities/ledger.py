"""The effect ledger as activities use it: one entry before an effect, one after it."""

from typing import Protocol

from contracts.blobs import BlobRef
from contracts.ledger import Begun, Done, InDoubt


class Ledger(Protocol):
    """Remembers, over every crash, which calls have begun and what they gave. Its key is task_id and call_id."""

    async def begin(self, task_id: str, call_id: str, args_sha256: str, tool: str, host: str) -> Begun | Done | InDoubt:
        """Write the call down, durably, before its effect; `host` names the place, sandbox included.

        Raises: CallChanged; then there must be no effect.
        """
        ...

    async def knows(self, task_id: str, call_id: str) -> bool:
        """Whether the call has begun. Raises: StorageUnusable."""
        ...

    async def finish(self, task_id: str, call_id: str, result_ref: BlobRef) -> BlobRef:
        """Record what the call gave. The first record stays, and is returned if there is one."""
        ...

    async def use_approval(self, task_id: str, approval_id: str, call_id: str, digest: str) -> bool:
        """Use an approval up for one call; False if it was used for that call with another digest.

        The same use again is an attempt of the same call. Raises: StorageUnusable; then there must be no effect.
        """
        ...
