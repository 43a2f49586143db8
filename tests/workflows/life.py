"""The life of one sandbox as its task and its person see it."""

import asyncio
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

from temporalio.api.enums.v1 import EventType
from temporalio.client import Client, WithStartWorkflowOperation, WorkflowHandle, WorkflowHistory
from temporalio.common import WorkflowIDConflictPolicy
from temporalio.service import RPCError

from contracts.activities import Acquired, AcquireRequest
from contracts.lifecycle import Lifetimes, SandboxInput, SandboxState, SandboxView, WaitingNotice
from contracts.queues import WORKFLOWS, sandbox_workflow_id
from tests.workflows.stage import USER, Script, Stage, on_stage
from workflows.sandbox import SandboxWorkflow

Handle = WorkflowHandle[SandboxWorkflow, SandboxView]


class Life:
    """One sandbox and its hosts."""

    def __init__(self, on: Stage, owner: str, lifetimes: Lifetimes, continue_after_events: int) -> None:
        self.on = on
        self.owner = owner
        self.script = on.script
        self.given = SandboxInput(
            owner=owner,
            user_id=USER,
            task_id=owner,
            lifetimes=lifetimes,
            continue_after_events=continue_after_events,
        )
        self._number = 0

    @property
    def handle(self) -> Handle:
        return self.of(self.owner)

    def of(self, owner: str) -> Handle:
        return self.on.sandbox(owner)

    async def need(self, owner: str | None = None, **changes: Any) -> Acquired:
        """What the task does before a call."""
        self._number += 1
        request = AcquireRequest(task_id=owner or self.owner, user_id=USER, number=self._number)
        start = WithStartWorkflowOperation(
            SandboxWorkflow.run,
            self.given,
            id=sandbox_workflow_id(request.task_id),
            task_queue=WORKFLOWS,
            id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
        )
        return await self.on.client.execute_update_with_start_workflow(
            SandboxWorkflow.need,
            request.model_copy(update=changes),
            start_workflow_operation=start,
            id=f"{self.owner}/{self._number}",
        )

    async def waits(self, snapshot: str = "") -> None:
        await self.handle.signal(SandboxWorkflow.waiting, WaitingNotice(snapshot=snapshot))

    async def ends(self) -> None:
        await self.handle.signal(SandboxWorkflow.ended)

    async def view(self, owner: str | None = None) -> SandboxView:
        return await self.of(owner or self.owner).query(SandboxWorkflow.view)

    async def until(self, *states: SandboxState, owner: str | None = None) -> SandboxView:
        return await self.on.until_sandbox(owner or self.owner, *states)

    async def asked(self, what: str, times: int = 1) -> None:
        """Wait until a host has been asked for this so often."""
        async with asyncio.timeout(60):
            while True:
                if self.script.asked.count(what) >= times:
                    return
                await asyncio.sleep(0.01)


def signalled(history: WorkflowHistory) -> list[str]:
    """Names of the signals that a workflow has sent."""
    kind = EventType.EVENT_TYPE_SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_INITIATED
    sent = [event for event in history.events if event.event_type == kind]
    return [event.signal_external_workflow_execution_initiated_event_attributes.signal_name for event in sent]


@asynccontextmanager
async def living(
    client: Client,
    *,
    script: Script | None = None,
    lifetimes: Lifetimes | None = None,
    continue_after_events: int = 0,
    owner: str | None = None,
) -> AsyncIterator[Life]:
    """A life that ends with the block."""
    async with alone(client, script or Script()) as on:
        yield Life(on, owner or uuid.uuid4().hex, lifetimes or Lifetimes(), continue_after_events)


@asynccontextmanager
async def alone(client: Client, script: Script) -> AsyncIterator[Stage]:
    """A stage on a server that others use after it: no sandbox of this one goes on there."""
    async with on_stage(client, script) as on:
        try:
            yield on
        finally:
            for owner in {request.task_id for request in script.leases}:
                with suppress(RPCError):
                    await on.sandbox(owner).terminate()
