"""The sandboxes of this machine: leased, opened, released, and swept when their tasks are gone."""

import asyncio
import hashlib
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from weakref import WeakValueDictionary

from contracts.language import Language
from contracts.messages import HostGrant
from contracts.queues import host_queue
from contracts.sandbox import Lease, LeaseRequest, SandboxLost, SandboxUnavailable
from contracts.texts import sandbox as texts
from sandbox.driver import Driver, Found, Spec
from sandbox.egress import EgressProxy, EgressRecord
from sandbox.grants import Grants
from sandbox.limits import Limits
from sandbox.quota import why_lost
from sandbox.records import Record, Records
from sandbox.resolving import Resolve, system_resolve
from sandbox.session import OpenSandbox
from sandbox.transport import Connection, connected

OnEgress = Callable[[Lease, EgressRecord], None]


class SandboxHost:
    """One host of one installation. Only one process may serve it at a time."""

    def __init__(
        self,
        driver: Driver,
        *,
        host_id: str,
        state_dir: Path,
        max_sandboxes: int = 16,
        limits: Limits | None = None,
        on_egress: OnEgress = lambda _lease, _record: None,
        resolve: Resolve = system_resolve,
        sweep_grace_seconds: float = 60.0,
        language: Language = "en",
    ) -> None:
        self._driver = driver
        self._host_id = host_id
        self._records = Records(state_dir)
        self._max_sandboxes = max_sandboxes
        self._limits = limits or Limits()
        self._on_egress = on_egress
        self._resolve = resolve
        self._sweep_grace_seconds = sweep_grace_seconds
        self._language: Language = language
        self._owner = ""
        self._open: dict[str, OpenSandbox] = {}
        self._grants: dict[str, Grants] = {}
        self._leased_at: dict[str, float] = {}
        self._pending: set[str] = set()
        self._admission = asyncio.Lock()
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def lease(self, request: LeaseRequest) -> Lease:
        """Raises: SandboxUnavailable."""
        sandbox_id = await self._sandbox_id(request.task_id)
        async with self._lock(sandbox_id):
            found = await self._driver.find(sandbox_id)
            epoch = self._epoch(sandbox_id)
            if found is None or found.state == "dead" or epoch <= request.previous_epoch:
                found = await self._replaced(sandbox_id, request, found)
            self._leased_at[sandbox_id] = time.monotonic()
            self._allow(found, request)
            return self._lease_of(found, request.task_id)

    async def open(self, lease: Lease) -> OpenSandbox:
        """Raises: SandboxLost."""
        async with self._lock(lease.sandbox_id):
            kept = self._open.get(lease.sandbox_id)
            if kept is None or kept.lease.epoch != lease.epoch:
                await self._alive(lease)
                kept = self._opened(lease)
            await kept.ready()
            return kept

    async def release(self, lease: Lease) -> None:
        """Raises: SandboxUnavailable if the engine does not answer."""
        async with self._lock(lease.sandbox_id):
            found = await self._driver.find(lease.sandbox_id)
            if found is None or self._epoch(lease.sandbox_id) <= lease.epoch:
                await self._remove(lease.sandbox_id)

    async def tasks(self) -> tuple[str, ...]:
        """Ids of the tasks that have a sandbox here. Raises: SandboxUnavailable."""
        records = (self._records.read(found.sandbox_id) for found in await self._owned())
        return tuple(sorted(record.task_id for record in records if record is not None))

    async def sweep(self, living_task_ids: Sequence[str]) -> int:
        """What was leased within the grace period stays: its task may be younger than the list."""
        living = {await self._sandbox_id(task_id) for task_id in living_task_ids}
        removed = 0
        for found in await self._owned():
            if found.sandbox_id in living or self._is_young(found.sandbox_id):
                continue
            async with self._lock(found.sandbox_id):
                if not self._is_young(found.sandbox_id):
                    await self._remove(found.sandbox_id)
                    removed += 1
        return removed

    async def close(self) -> None:
        for sandbox_id in list(self._open):
            await self._disconnect(sandbox_id)
        await self._driver.close()

    async def _replaced(self, sandbox_id: str, request: LeaseRequest, found: Found | None) -> Found:
        """A new sandbox, in the place of one that is dead or was given up."""
        await self._admit(sandbox_id)
        try:
            image = await self._driver.resolve_image(request.image)
            record = await asyncio.to_thread(self._records.read, sandbox_id)
            await self._disconnect(sandbox_id)
            if found is not None:
                await self._driver.destroy(sandbox_id)
            epoch = 1 + max(request.previous_epoch, record.epoch if record else 0)
            self._grants[sandbox_id] = Grants(record.egress if record else ())
            self._remember(sandbox_id, request.task_id, epoch)
            return await self._created(Spec(sandbox_id, self._owner, image, request.runtime or "", self._limits))
        finally:
            self._pending.discard(sandbox_id)

    async def _created(self, spec: Spec) -> Found:
        creating = asyncio.ensure_future(self._driver.create(spec))
        try:
            return await asyncio.shield(creating)
        except BaseException:
            # The engine's call goes on in its thread: what it makes must not stay behind.
            await asyncio.wait([creating])
            await self._driver.destroy(spec.sandbox_id)
            raise

    async def _admit(self, sandbox_id: str) -> None:
        async with self._admission:
            taken = {found.sandbox_id for found in await self._owned()} | self._pending
            if len(taken - {sandbox_id}) >= self._max_sandboxes:
                raise SandboxUnavailable(texts.HOST_FULL.say(self._language, count=self._max_sandboxes))
            self._pending.add(sandbox_id)

    async def _alive(self, lease: Lease) -> Found:
        """Raises: SandboxLost."""
        try:
            found = await self._driver.find(lease.sandbox_id)
        except SandboxUnavailable as error:
            raise SandboxLost(str(error)) from error
        if found is None or found.state == "dead":
            raise SandboxLost(f"{lease.sandbox_id} is gone: {why_lost(found, self._limits, self._language)}")
        if self._epoch(lease.sandbox_id) != lease.epoch:
            raise SandboxLost(f"lease {lease.epoch} of {lease.sandbox_id} is no longer the newest")
        if found.state == "paused":
            await self._driver.resume(lease.sandbox_id)
        return found

    def _opened(self, lease: Lease) -> OpenSandbox:
        proxy = EgressProxy(
            self._grants_of(lease.sandbox_id),
            partial(self._on_egress, lease),
            resolve=self._resolve,
            language=self._language,
        )

        async def connect() -> Connection:
            await self._alive(lease)
            return await connected(await self._driver.attach(lease.sandbox_id), proxy.serve)

        def permit(egress: Sequence[HostGrant]) -> None:
            proxy.grants.add(egress)
            self._remember(lease.sandbox_id, lease.task_id, lease.epoch)

        opened = OpenSandbox(lease, connect, permit, self._driver, self._limits, self._language)
        self._open[lease.sandbox_id] = opened
        return opened

    def _allow(self, found: Found, request: LeaseRequest) -> None:
        grants = self._grants_of(found.sandbox_id)
        if request.egress:
            grants.add(request.egress)
            self._remember(found.sandbox_id, request.task_id, self._epoch(found.sandbox_id))

    def _epoch(self, sandbox_id: str) -> int:
        record = self._records.read(sandbox_id)
        return record.epoch if record else 0

    def _grants_of(self, sandbox_id: str) -> Grants:
        if sandbox_id not in self._grants:
            record = self._records.read(sandbox_id)
            self._grants[sandbox_id] = Grants(record.egress if record else ())
        return self._grants[sandbox_id]

    def _remember(self, sandbox_id: str, task_id: str, epoch: int) -> None:
        grants = self._grants_of(sandbox_id)
        self._records.write(Record(sandbox_id=sandbox_id, task_id=task_id, epoch=epoch, egress=grants.all))

    async def _remove(self, sandbox_id: str) -> None:
        await self._disconnect(sandbox_id)
        await self._driver.destroy(sandbox_id)
        await asyncio.to_thread(self._records.remove, sandbox_id)
        self._grants.pop(sandbox_id, None)
        self._leased_at.pop(sandbox_id, None)

    async def _disconnect(self, sandbox_id: str) -> None:
        opened = self._open.pop(sandbox_id, None)
        if opened is not None:
            with suppress(OSError):
                await opened.close()

    async def _owned(self) -> Sequence[Found]:
        await self._known_owner()
        return await self._driver.owned(self._owner)

    def _is_young(self, sandbox_id: str) -> bool:
        age = time.monotonic() - self._leased_at.get(sandbox_id, float("-inf"))
        return sandbox_id in self._pending or age < self._sweep_grace_seconds

    def _lock(self, sandbox_id: str) -> asyncio.Lock:
        lock = self._locks.get(sandbox_id)
        if lock is None:
            lock = self._locks[sandbox_id] = asyncio.Lock()
        return lock

    async def _known_owner(self) -> str:
        if not self._owner:
            self._owner = f"{self._host_id}-{await asyncio.to_thread(self._records.installation)}"
        return self._owner

    async def _sandbox_id(self, task_id: str) -> str:
        digest = hashlib.sha256(task_id.encode("utf-8", "surrogatepass")).hexdigest()[:16]
        return f"asos-{await self._known_owner()}-{digest}"

    def _lease_of(self, found: Found, task_id: str) -> Lease:
        return Lease(
            sandbox_id=found.sandbox_id,
            task_id=task_id,
            host_id=self._host_id,
            task_queue=host_queue(self._host_id),
            epoch=self._epoch(found.sandbox_id),
            driver=self._driver.name,
            runtime=found.runtime,
            image=found.image,
        )
