"""Taking back what the file tool did: what is kept of a file before a call changes it, and what became of it."""

from datetime import datetime
from typing import Literal

from temporalio import activity

from contracts.sandbox import Lease
from contracts.values import Value

UNDO_FOLDER = "/home/agent/.asos/undo"
"""In the sandbox, so that it sleeps, wakes and moves with the files that it is about; one folder a call."""

KEPT_BYTES = 4 * 1024 * 1024
"""Of a larger file no copy is kept."""

KEPT_CALLS = 50
"""The newest; older copies go."""

Before = Literal["absent", "file", "folder", "too_large", "other"]


class Kept(Value):
    """What a path was before one call changed it."""

    path: str
    before: Before
    after: str
    """SHA-256 in hex of what the call left there; empty if it left nothing."""
    at: datetime


class UndoRequest(Value):
    """Take back what one step did, or the last step that did anything."""

    lease: Lease
    step: int | None = None


class Left(Value):
    """One path that was not brought back: `changed` since, `too_large` or `other` to have been kept, or `refused`."""

    path: str
    why: Literal["changed", "too_large", "other", "refused"]


class Undone(Value):
    """What became of it."""

    step: int | None = None
    """None if there was nothing to take back."""
    restored: tuple[str, ...] = ()
    left: tuple[Left, ...] = ()


class Undoing:
    """Takes back, on the host that holds the sandbox. What has been taken back once is nothing the second time."""

    @activity.defn(name="undo_in_sandbox")
    async def undo_in_sandbox(self, request: UndoRequest) -> Undone:
        raise NotImplementedError
