"""The sandboxes of this machine: leased, opened, frozen, saved, given up, and swept when nobody owns them."""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path

from contracts.language import Language
from contracts.sandbox import (
    HostedSandbox,
    Lease,
    LeaseRequest,
    SandboxBusy,
    SandboxLost,
    SandboxUnavailable,
    Snapshot,
    SnapshotFailed,
    SnapshotKind,
    SweepReport,
)
from contracts.texts import hosting as texts
from sandbox.admission import Admission
from sandbox.driver import Driver, Unsupported
from sandbox.freezing import Freezer
from sandbox.house import HouseRules
from sandbox.limits import Limits
from sandbox.listing import listed
from sandbox.locks import Locks
from sandbox.making import Making
from sandbox.naming import Names
from sandbox.opened import Connections, OnEgress
from sandbox.records import Record, Register
from sandbox.removing import Removals
from sandbox.resolving import Resolve, system_resolve
from sandbox.saving import Saving, Snapshots, lost
from sandbox.session import OpenSandbox
from sandbox.sweeping import Sweep
from sandbox.warm import WarmKind, WarmPool

CLOSE_SECONDS = 20.0
"""How long closing waits for removals; what is then left goes with the next life's first sweep."""

_log = logging.getLogger(__name__)


class SandboxHost:
    """One host of one installation. Only one process may serve it at a time."""

    def __init__(
        self,
        driver: Driver,
        *,
        host_id: str,
        state_dir: Path,
        snapshots: Snapshots | None = None,
        max_sandboxes: int = 16,
        max_sandboxes_per_user: int | None = None,
        wait_seconds: float = 15.0,
        warm: Mapping[WarmKind, int] | int = 0,
        limits: Limits | None = None,
        on_egress: OnEgress = lambda _lease, _record: None,
        resolve: Resolve = system_resolve,
        house: HouseRules | None = None,
        sweep_grace_seconds: float = 60.0,
        api_url: str = "",
        language: Language = "en",
    ) -> None:
        """A number for `warm` is of the host's own image and runtime. `wait_seconds` is how long a lease waits for a
        place."""
        self._driver = driver
        self._language: Language = language
        self._snapshots = snapshots
        self._house = house or HouseRules()
        self._beginning = asyncio.Lock()
        self._locks = Locks()
        self._register = register = Register(state_dir, language)
        limits = limits or Limits()
        self._names = Names(host_id, driver.name, register, limits, api_url)
        self._connections = Connections(
            driver,
            register,
            self._awake,
            limits=limits,
            on_egress=on_egress,
            resolve=resolve,
            house=self._house,
            language=language,
        )
        self._freezer = Freezer(driver, self._connections)
        self._saving = Saving(
            driver,
            self._connections,
            self._freezer,
            snapshots,
            self._names.spec,
            folder=state_dir / "checkpoints",
            limits=limits,
            language=language,
        )
        self._removals = Removals(driver, register, self._connections, self._locks, self._gone)
        self._making = Making(
            driver, self._names, register, self._connections, self._removals, self._saving, language, self._house.heed
        )
        self._pool = WarmPool(
            {WarmKind(): warm} if isinstance(warm, int) else warm,
            self._making.ahead,
            lambda one: self._removals.give_up_soon(one.record),
            lambda: self._admission.spare and self._house.brake.halted("sandbox") is None,
        )
        self._admission = Admission(
            register,
            self._pool,
            most=max_sandboxes,
            most_per_user=max_sandboxes_per_user or max_sandboxes,
            wait_seconds=wait_seconds,
            language=language,
        )
        self._sweep = Sweep(
            driver, self._names, register, self._removals, self._saving, grace_seconds=sweep_grace_seconds
        )

    async def begin(self) -> None:
        """Take the host, remove what an earlier life left unowned, and fill the warm pool, both in the background.

        Every other call does this first. Raises: SandboxUnavailable if another process serves this host.
        """
        async with self._beginning:
            if self._register.is_open:
                return
            await self._register.open()
            for sandbox_id in self._register.remains:
                self._removals.begin(sandbox_id)
            self._pool.start()

    @property
    def warm(self) -> Mapping[WarmKind, int]:
        """How many wait to be claimed, of each kind."""
        return self._pool.counts

    async def lease(self, request: LeaseRequest) -> Lease:
        """Raises: HostFull, SandboxUnavailable, SnapshotUnusable, Halted."""
        await self.begin()
        async with self._locks.of(f"owner {request.task_id}"):
            self._house.heed(request.task_id)
            record = self._register.leased_to(request.task_id)
            if record is not None and record.epoch > request.previous_epoch and await self._lives(record):
                return self._names.lease(await self._again(record, request))
            if record is not None:
                await self._register.write(record.become("leaving"))
                await self._removals.now(record.sandbox_id)
            return self._names.lease(await self._making.new(request, self._admission, self._pool))

    async def open(self, lease: Lease) -> OpenSandbox:
        """Raises: SandboxLost."""
        await self._began()
        self._current(lease)
        async with self._locks.of(lease.sandbox_id):
            self._current(lease)
            if self._freezer.is_frozen(lease.sandbox_id):
                await self._freezer.resume(lease.sandbox_id)
            opened = self._connections.kept(lease.sandbox_id) or self._connections.made(lease)
            await opened.ready()
            self._current(lease)
            return opened

    async def pause(self, lease: Lease) -> None:
        """Raises: SandboxBusy, SandboxLost."""
        await self._began()
        async with self._locks.of(lease.sandbox_id):
            self._current(lease)
            await self._freezer.pause(lease.sandbox_id)

    async def resume(self, lease: Lease) -> None:
        """Raises: SandboxLost, Halted."""
        await self._began()
        self._house.heed(lease.task_id)
        async with self._locks.of(lease.sandbox_id):
            self._current(lease)
            await self._freezer.resume(lease.sandbox_id)

    async def snapshot(self, lease: Lease, name: str, kind: SnapshotKind = "files") -> Snapshot:
        """Raises: SandboxBusy (process only), SandboxLost, SnapshotFailed."""
        await self._began()
        try:
            async with self._locks.of(lease.sandbox_id):
                record = self._current(lease)
                if kind == "files":
                    snapshot = await self._saving.files(record, name)
                else:
                    snapshot = await self._saving.processes(record, name, stay=True)
        except Unsupported as error:
            raise SnapshotFailed(str(error)) from error
        except SandboxBusy:
            if kind == "process":
                raise
            snapshot = await self._saving.live_files(self._current(lease), name)
        row = self._register.get(lease.sandbox_id)
        if row is not None:
            self._register.note(row.model_copy(update={"snapshot": snapshot.digest}))
        return snapshot

    async def sleep(self, lease: Lease, name: str, kind: SnapshotKind = "process") -> Snapshot:
        """Raises: SandboxBusy, SandboxLost, SnapshotFailed; it is then still there."""
        await self._began()
        async with self._locks.of(lease.sandbox_id):
            if (missed := self._register.asleep(lease.sandbox_id)) is not None:
                return missed
            record = self._current(lease)
            if self._freezer.is_busy(lease.sandbox_id):
                raise SandboxBusy(f"something runs in {lease.sandbox_id}")
            saved = await self._processes_saved(record, name) if kind == "process" else None
            snapshot = saved or await self._saving.files(record, name)
            await self._fell_asleep(record, snapshot)
            return snapshot

    async def release(self, lease: Lease) -> None:
        """Raises: SandboxUnavailable if that cannot be written down."""
        await self.begin()
        record = self._register.get(lease.sandbox_id)
        if record is not None and record.state == "leased" and record.epoch == lease.epoch:
            await self._removals.give_up(record)

    def revoke(self, owner: str | None) -> list[str]:
        """Take away every sandbox of this owner, or all for None; no lease of before holds. Gives their names."""
        return self._removals.give_up_all(owner)

    async def leases(self) -> Sequence[Lease]:
        """All that hold here. Raises: SandboxUnavailable."""
        await self.begin()
        return [self._names.lease(row) for row in self._register.rows if row.state == "leased"]

    async def hosted(self) -> Sequence[HostedSandbox]:
        """Raises: SandboxUnavailable."""
        await self.begin()
        return await listed(self._driver, self._register, self._names.owner)

    async def sweep(self, living: Sequence[Lease]) -> SweepReport:
        """Raises: SandboxUnavailable."""
        await self.begin()
        return await self._sweep.run(living)

    async def close(self) -> None:
        async with self._beginning:
            if self._register.is_open:
                await self._pool.close()
                await self._removals.finish(CLOSE_SECONDS)
                await self._connections.close()
                await self._register.close()
            if self._snapshots is not None:
                await self._snapshots.close()
            await self._driver.close()

    async def _processes_saved(self, record: Record, name: str) -> Snapshot | None:
        """None if they cannot be. Raises: SandboxBusy, SandboxLost."""
        try:
            return await self._saving.processes(record, name, stay=False)
        except (Unsupported, SnapshotFailed) as error:
            _log.info("only the files of %s are put to sleep: %s", record.sandbox_id, error)
            return None

    async def _fell_asleep(self, record: Record, snapshot: Snapshot) -> None:
        """Raises: SnapshotFailed if it cannot be written down; then the sandbox stays."""
        try:
            await self._register.fell_asleep(record.sandbox_id, snapshot)
            await self._removals.give_up(record)
        except SandboxUnavailable as error:
            raise SnapshotFailed(str(error)) from error

    async def _began(self) -> None:
        """Raises: SandboxLost if this host cannot be served."""
        try:
            await self.begin()
        except SandboxUnavailable as error:
            raise SandboxLost(str(error)) from error

    async def _again(self, record: Record, request: LeaseRequest) -> Record:
        """The sandbox that the task has, with what this request adds. Raises: SandboxUnavailable."""
        if request.runtime and request.runtime != record.runtime:
            text = texts.OTHER_RUNTIME.say(self._language, demanded=request.runtime, runtime=record.runtime)
            raise SandboxUnavailable(text)
        self._connections.allow(record.sandbox_id, request.egress)
        row = self._register.get(record.sandbox_id)
        if row is None or row.state != "leased":
            raise SandboxUnavailable(f"{record.sandbox_id} was given up at this moment")
        again = row.become("leased")
        await self._register.write(again)
        return again

    async def _lives(self, record: Record) -> bool:
        found = await self._driver.find(record.sandbox_id)
        return self._saving.was_cut_off(record.sandbox_id) or (found is not None and found.state != "dead")

    def _current(self, lease: Lease) -> Record:
        """Raises: SandboxLost."""
        record = self._register.get(lease.sandbox_id)
        if record is None or record.state != "leased":
            raise lost(lease.sandbox_id)
        if record.epoch != lease.epoch:
            raise SandboxLost(f"lease {lease.epoch} of {lease.sandbox_id} is not the newest: {record.epoch} is")
        return record

    async def _awake(self, sandbox_id: str) -> None:
        """Before every connection. Raises: SandboxLost."""
        await self._saving.settled(sandbox_id)
        record = self._register.get(sandbox_id)
        if record is None:
            raise lost(sandbox_id)
        found = await self._saving.there(record)
        if found.state == "paused":
            try:
                await self._driver.resume(sandbox_id)
            except SandboxUnavailable as error:
                raise SandboxLost(str(error)) from error

    async def _gone(self, sandbox_id: str) -> None:
        """After a removal: nothing here speaks of it any more, and its place is free."""
        self._freezer.forget(sandbox_id)
        await self._saving.forget(sandbox_id)
        self._admission.serve()
        self._pool.look()
