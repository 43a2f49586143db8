"""From a sandbox's name and a lease's epoch to the open sandbox; every opening leaves a line in the audit log."""

import re
from collections.abc import Sequence
from typing import Protocol

from contracts.audit import Event, EventKind, Recorder
from contracts.queues import host_queue
from contracts.sandbox import HostedSandbox, Lease
from contracts.values import JsonObject
from sandbox.session import OpenSandbox
from workers.host_api.refusal import Refusal

_BY = re.compile(r"[\w.:@+-]{1,80}")


class Opens(Protocol):
    """What is needed of a host."""

    async def hosted(self) -> Sequence[HostedSandbox]: ...

    async def open(self, lease: Lease) -> OpenSandbox: ...


class Doors:
    """The sandboxes of one host, as the owner may enter them."""

    def __init__(self, host: Opens, recorder: Recorder, *, host_id: str, max_bytes: int) -> None:
        self._host = host
        self._recorder = recorder
        self._host_id = host_id
        self._leases: dict[str, Lease] = {}
        self.max_bytes = max_bytes
        """No file in a sandbox is larger than its quota."""

    async def hosted(self) -> Sequence[HostedSandbox]:
        """Raises: SandboxUnavailable."""
        return await self._host.hosted()

    async def open(self, sandbox_id: str, epoch: int, kind: EventKind, by: str, words: JsonObject) -> OpenSandbox:
        """Raises: Refusal, SandboxLost, SandboxUnavailable, StorageUnusable."""
        lease = await self._lease(sandbox_id, epoch)
        actor = by if _BY.fullmatch(by) else "owner"
        data: JsonObject = {"sandbox_id": sandbox_id, "epoch": epoch}
        await self._recorder.record(Event(kind=kind, actor=actor, task_id=lease.task_id, data=data, words=words))
        return await self._host.open(lease)

    async def _lease(self, sandbox_id: str, epoch: int) -> Lease:
        known = self._leases.get(sandbox_id)
        if known is not None and known.epoch == epoch:
            return known
        hosted = {each.sandbox_id: each for each in await self._host.hosted() if each.owner}
        self._leases = {name: lease for name, lease in self._leases.items() if name in hosted}
        found = hosted.get(sandbox_id)
        if found is None:
            raise Refusal("no_sandbox", f"no task has a sandbox named {sandbox_id!r} on host {self._host_id}")
        if found.epoch != epoch:
            raise Refusal("old_lease", f"lease {epoch} of {sandbox_id} is not the newest, which is {found.epoch}")
        lease = self._leases[sandbox_id] = self._lease_of(found)
        return lease

    def _lease_of(self, found: HostedSandbox) -> Lease:
        return Lease(
            sandbox_id=found.sandbox_id,
            task_id=found.owner,
            host_id=self._host_id,
            task_queue=host_queue(self._host_id),
            epoch=found.epoch,
            driver="",
            runtime=found.runtime,
            image=found.image,
        )
