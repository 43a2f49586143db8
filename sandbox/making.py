"""Makes sandboxes: for a task that asks, claimed from the warm pool where one fits, and ahead, for the pool."""

import asyncio
import time
from collections.abc import Callable, Coroutine
from typing import Any, Literal

from contracts.language import Language
from contracts.sandbox import LeaseRequest, SandboxUnavailable, Snapshot
from contracts.texts import hosting as texts
from sandbox.admission import Admission
from sandbox.driver import Driver, Found
from sandbox.grants import Grants
from sandbox.naming import Names
from sandbox.opened import Connections
from sandbox.records import Record, Register
from sandbox.removing import Removals
from sandbox.saving import Saving
from sandbox.warm import Ready, WarmKind, WarmPool

Made = tuple[Found, bool]
"""What there is now, and whether the processes of a snapshot go on in it."""


class Making:
    """Whatever ends a making leaves nothing: what the engine still makes then is removed after it."""

    def __init__(
        self,
        driver: Driver,
        names: Names,
        register: Register,
        connections: Connections,
        removals: Removals,
        saving: Saving,
        language: Language,
        heed: Callable[[str], None] = lambda _task_id: None,
    ) -> None:
        """`heed` raises Halted if the task may have no sandbox now."""
        self._driver = driver
        self._names = names
        self._register = register
        self._connections = connections
        self._removals = removals
        self._saving = saving
        self._language: Language = language
        self._heed = heed

    async def new(self, request: LeaseRequest, admission: Admission, pool: WarmPool) -> Record:
        """A sandbox that is this task's. Raises: HostFull, SandboxUnavailable, SnapshotUnusable, Halted."""
        snapshot = await self._saving.find(request.restore) if request.restore else None
        with_processes = snapshot is not None and snapshot.kind == "process"
        image, runtime = request.image or "", request.runtime or ""
        async with admission.place(
            request.user_id, lambda: None if with_processes else pool.take(image, runtime)
        ) as ready:
            record = self._claim(request, ready, runtime)
            await self._register.write(record)
        if ready is not None:
            self._connections.hand_over(ready.opened, self._names.lease(record))
        if record.state == "creating":
            with pool.standing_back():
                step = self._fresh(record, image, snapshot) if ready is None else self._refilled(record, snapshot)
                record = await self._whole(record, step, "leased")
        self._connections.allow(record.sandbox_id, request.egress)
        return record

    async def ahead(self, kind: WarmKind) -> Ready:
        """One that waits for a task, connected. Raises: SandboxUnavailable, SandboxLost."""
        record = Record(sandbox_id=self._names.new(), state="creating", changed_at=time.time(), runtime=kind.runtime)
        await self._register.write(record)
        record = await self._whole(record, self._fresh(record, kind.image, None), "creating")
        opened = self._connections.made(self._names.lease(record))
        try:
            await opened.ready()
            record = record.become("warm")
            await self._register.write(record)
        except BaseException:
            self._removals.give_up_soon(record)
            raise
        return Ready(kind, record, opened)

    def _claim(self, request: LeaseRequest, ready: Ready | None, runtime: str) -> Record:
        """What is written down before the engine is asked, or instead of that."""
        record = ready.record if ready else Record(sandbox_id=self._names.new(), state="creating", changed_at=0.0)
        return record.become(
            "creating" if ready is None or request.restore else "leased",
            runtime=record.runtime or runtime,
            owner=request.task_id,
            user_id=request.user_id,
            epoch=1 + max(request.previous_epoch, self._register.last_epoch(request.task_id)),
            egress=Grants(request.egress).all,
            restored=request.restore,
        )

    async def _whole(
        self, record: Record, step: Coroutine[Any, Any, Made], state: Literal["creating", "leased"]
    ) -> Record:
        """The record of what `step` makes. The engine's call goes on in its thread, whoever stops waiting for it."""
        making = asyncio.ensure_future(step)
        try:
            found, processes_restored = await asyncio.shield(making)
            self._heed(record.owner)  # the switch may have been pulled while the engine made it
            if record.runtime not in ("", found.runtime):
                text = texts.RUNTIME_NOT_HERE
                raise SandboxUnavailable(text.say(self._language, demanded=record.runtime, runtime=found.runtime))
            whole = record.become(
                state, image=found.image, runtime=found.runtime, processes_restored=processes_restored
            )
            await self._register.write(whole)
        except BaseException:
            self._removals.give_up_soon(record, making)
            raise
        return whole

    async def _fresh(self, record: Record, image: str, snapshot: Snapshot | None) -> Made:
        spec = self._names.spec(record, await self._driver.resolve_image(image or None))
        if snapshot is None:
            return await self._driver.create(spec), False
        return await self._saving.restored(spec, snapshot)

    async def _refilled(self, record: Record, snapshot: Snapshot | None) -> Made:
        """A warm one gets its files while it runs: nobody has used it yet."""
        if snapshot is not None:
            await self._saving.refill(record.sandbox_id, snapshot)
        return Found(record.sandbox_id, self._names.owner, record.image, record.runtime, "running"), False
