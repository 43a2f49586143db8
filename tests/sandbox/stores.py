"""Real stores of snapshots for tests, and ones that stop at a certain point."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from contracts.sandbox import Snapshot, SnapshotFailed
from sandbox.snapshots.opening import open_snapshots
from sandbox.snapshots.sealing import SnapshotKeys
from sandbox.snapshots.store import Snapshots
from sandbox.snapshots.tree import Tree


def store_in(folder: Path) -> Snapshots:
    keys = SnapshotKeys.from_secret(b"a secret of the tests, and only theirs")
    return open_snapshots(str(folder / "snapshots"), keys, scratch=folder / "scratch")


class FullStore:
    """Reads like the real one, and has no room for anything new."""

    def __init__(self, real: Snapshots) -> None:
        self._real = real

    async def take(self, *, owner: str, name: str, **_: Any) -> Snapshot:
        raise SnapshotFailed(f"{name} of {owner}: no space left on device")

    async def restore(self, digest: str, trees: Mapping[str, Tree]) -> Snapshot:
        return await self._real.restore(digest, trees)

    async def find(self, digest: str) -> Snapshot:
        return await self._real.find(digest)

    async def close(self) -> None:
        await self._real.close()


class SlowStore(FullStore):
    """Takes for ever, and says when it has begun."""

    def __init__(self, real: Snapshots) -> None:
        super().__init__(real)
        self.begun = asyncio.Event()

    async def take(self, *, owner: str, name: str, **_: Any) -> Snapshot:
        self.begun.set()
        await asyncio.Event().wait()
        raise AssertionError("nobody ends this wait")
