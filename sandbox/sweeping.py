"""Takes away everything of a host that has no living owner, whatever left it, and proves it by looking again."""

import asyncio
import logging
import shutil
import time
from collections import Counter
from collections.abc import Collection, Sequence

from contracts.sandbox import Lease, SandboxUnavailable, SweepReport
from sandbox.driver import Driver
from sandbox.leftovers import Belonging
from sandbox.naming import Names
from sandbox.records import Record, Register
from sandbox.removing import Removals
from sandbox.saving import Saving

AT_ONCE = 4

log = logging.getLogger(__name__)


class Sweep:
    """The sweeps of one host."""

    def __init__(
        self,
        driver: Driver,
        names: Names,
        register: Register,
        removals: Removals,
        saving: Saving,
        *,
        grace_seconds: float,
    ) -> None:
        self._driver = driver
        self._register = register
        self._removals = removals
        self._saving = saving
        self._names = names
        self._grace_seconds = grace_seconds

    async def run(self, living: Sequence[Lease]) -> SweepReport:
        """Raises: SandboxUnavailable if the engine does not say what is there."""
        leases = {(lease.sandbox_id, lease.epoch) for lease in living}
        before = await self._strays(leases)
        doomed = {one.sandbox_id for one in before if one.sandbox_id}
        doomed |= {row.sandbox_id for row in self._register.rows if not self._stays(row, leases)}
        at_once = asyncio.Semaphore(AT_ONCE)
        await asyncio.gather(*(self._removed(sandbox_id, at_once, leases) for sandbox_id in sorted(doomed)))
        for one in await self._strays(leases):
            await self._discarded(one)
        left = await self._strays(leases)
        gone = Counter(one.kind for one in set(before) - set(left))
        return SweepReport(
            **{str(kind): count for kind, count in gone.items()}, left=tuple(sorted({one.name for one in left}))
        )

    async def _strays(self, leases: Collection[tuple[str, int]]) -> list[Belonging]:
        """All that is there now and belongs to no sandbox that stays."""
        found = [*await self._driver.belongings(self._names.owner), *await asyncio.to_thread(self._checkpoints)]
        stays = {row.sandbox_id for row in self._register.rows if self._stays(row, leases)}
        return [one for one in found if one.sandbox_id not in stays]

    def _checkpoints(self) -> list[Belonging]:
        return [Belonging("folders", str(path), sandbox_id) for sandbox_id, path in self._saving.folders().items()]

    def _stays(self, row: Record, leases: Collection[tuple[str, int]]) -> bool:
        """What this process makes or keeps ready is its own; a lease may be younger than the list of the living."""
        if row.state == "leased":
            young = time.time() - row.changed_at < self._grace_seconds
            return young or (row.sandbox_id, row.epoch) in leases
        return row.state in ("creating", "warm") and row.sandbox_id not in self._register.remains

    async def _removed(self, sandbox_id: str, at_once: asyncio.Semaphore, leases: Collection[tuple[str, int]]) -> None:
        async with at_once:
            row = self._register.get(sandbox_id)
            if row is not None and self._stays(row, leases):
                return
            try:
                if row is not None and row.state != "leaving":
                    await self._register.write(row.become("leaving"))
                await self._removals.now(sandbox_id)
            except SandboxUnavailable as error:
                log.warning("%s could not be swept: %s", sandbox_id, error)

    async def _discarded(self, one: Belonging) -> None:
        """What no sandbox's removal has taken along."""
        if one.kind == "folders" and one.sandbox_id in self._saving.folders():
            await asyncio.to_thread(shutil.rmtree, one.name, ignore_errors=True)
            return
        try:
            await self._driver.discard(one)
        except SandboxUnavailable as error:
            log.warning("%s could not be swept: %s", one.name, error)
