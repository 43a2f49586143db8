"""Where people look after sandboxes: each has a workflow of its own, which is asked and told here."""

import asyncio
from collections.abc import Sequence
from datetime import datetime
from typing import TypeVar

from temporalio.client import Client, WorkflowExecution, WorkflowHandle, WorkflowUpdateStage

from contracts import errors
from contracts.lifecycle import SandboxView
from contracts.queues import sandbox_workflow_id, task_workflow_id
from contracts.sandbox import Snapshot, SnapshotKind
from contracts.values import Value
from gateway.desk import NoSuchTask, Refused
from gateway.temporal_desk import QUERY_SECONDS, RPC_SECONDS, UPDATE_SECONDS, answering

Result = TypeVar("Result")

LONG_SECONDS = 1_800.0
"""Saving or bringing back a large sandbox takes its time."""
AT_ONCE = 16
MOST = 1_000
"""How many sandboxes are listed."""


class Listed(Value):
    """One sandbox in a list."""

    view: SandboxView
    goal: str
    """Of its task; or what a fork was made of."""
    started_at: datetime


class SandboxDesk:
    """Every method raises DeskUnreachable; those that ask for something Refused."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def owners(self) -> list[str]:
        """Newest first, up to a second out of date."""
        return [_owner(execution) for execution in await self._executions(closed=False)]

    async def listed(self, *, closed: bool) -> list[Listed]:
        """Newest first; with those that are gone if `closed`."""
        slots = asyncio.Semaphore(AT_ONCE)

        async def one(execution: WorkflowExecution) -> Listed | None:
            async with slots:
                return await self._listed(execution)

        found = await asyncio.gather(*(one(execution) for execution in await self._executions(closed=closed)))
        return [each for each in found if each is not None]

    async def view(self, owner: str) -> SandboxView | None:
        """None if there is none, or none any more."""
        try:
            async with answering(owner, QUERY_SECONDS):
                view: SandboxView = await self._sandbox(owner).query("view", result_type=SandboxView)
                return view
        except NoSuchTask:
            return None

    async def pause(self, owner: str) -> SandboxView:
        return await self._told(owner, "pause", [], SandboxView)

    async def resume(self, owner: str, *, lost_epoch: int = 0) -> SandboxView:
        """Let it run, woken if need be; also in the place of a lease that was found lost."""
        return await self._told(owner, "resume", [lost_epoch], SandboxView)

    async def snapshot(self, owner: str, name: str, kind: SnapshotKind) -> Snapshot:
        return await self._told(owner, "snapshot", [name, kind], Snapshot)

    async def restore(self, owner: str, which: str) -> SandboxView:
        return await self._told(owner, "restore", [which], SandboxView)

    async def fork(self, owner: str, name: str, which: str) -> str:
        """`which` is the digest of a snapshot, or empty for what is there now; gives the name of the new one."""
        return await self._told(owner, "fork", [name, which], str)

    async def destroy(self, owner: str) -> SandboxView:
        return await self._told(owner, "destroy", [], SandboxView)

    async def _told(self, owner: str, name: str, arguments: Sequence[object], result_type: type[Result]) -> Result:
        """A worker must take it soon; the deed itself may be long."""
        try:
            async with answering(owner, UPDATE_SECONDS):
                handle = await self._sandbox(owner).start_update(
                    name, args=arguments, wait_for_stage=WorkflowUpdateStage.ACCEPTED, result_type=result_type
                )
            async with answering(owner, LONG_SECONDS):
                result: Result = await handle.result()
                return result
        except NoSuchTask as error:
            raise Refused(errors.SANDBOX_CLOSING, f"the sandbox of {owner} is gone") from error

    async def _executions(self, *, closed: bool) -> list[WorkflowExecution]:
        query = "WorkflowType = 'SandboxWorkflow'" + ("" if closed else " AND ExecutionStatus = 'Running'")
        found: list[WorkflowExecution] = []
        async with answering("", QUERY_SECONDS):
            async for execution in self._client.list_workflows(query, limit=MOST, page_size=MOST):
                found.append(execution)
        newest = {execution.id: execution for execution in sorted(found, key=lambda each: each.start_time)}
        return sorted(newest.values(), key=lambda each: each.start_time, reverse=True)

    async def _listed(self, execution: WorkflowExecution) -> Listed | None:
        owner = _owner(execution)
        view = await self.view(owner)
        if view is None:
            return None
        story = task_workflow_id(view.task_id) if view.task_id else execution.id
        return Listed(view=view, goal=await self._summary(story), started_at=execution.start_time)

    async def _summary(self, workflow_id: str) -> str:
        try:
            async with answering(workflow_id, QUERY_SECONDS):
                described = await self._client.get_workflow_handle(workflow_id).describe(rpc_timeout=RPC_SECONDS)
                return await described.static_summary() or ""
        except NoSuchTask:
            return ""

    def _sandbox(self, owner: str) -> WorkflowHandle[object, object]:
        return self._client.get_workflow_handle(sandbox_workflow_id(owner))


def _owner(execution: WorkflowExecution) -> str:
    return execution.id.partition("/")[2]
