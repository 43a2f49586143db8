"""What a scenario is: it plays on a server, and names the workflows whose histories tell of it."""

from collections.abc import Awaitable, Callable

from temporalio.client import Client, WorkflowFailureError, WorkflowHandle

from contracts.task import Approval, Asked, TaskResult
from tests.workflows.stage import Stage
from workflows.task import TaskWorkflow

Scenario = Callable[[Client], Awaitable[list[str]]]
Task = WorkflowHandle[TaskWorkflow, TaskResult]


def by_name(*scenarios: Scenario) -> dict[str, Scenario]:
    """Each under the name of its function, which is also the name of its file."""
    return {scenario.__name__: scenario for scenario in scenarios}


async def end(handle: Task) -> list[str]:
    """Wait for the end of the task, good or bad; the workflow that tells of it."""
    try:
        await handle.result()
    except WorkflowFailureError:
        await handle.query(TaskWorkflow.status)
    return [handle.id]


async def approval(on: Stage, handle: Task) -> Approval:
    """The question that the task puts to its person."""
    status = await on.until(handle, lambda seen: seen.approval is not None)
    assert status.approval is not None
    return status.approval


async def question(on: Stage, handle: Task) -> Asked:
    """The question that wants words."""
    status = await on.until(handle, lambda seen: seen.asked is not None)
    assert status.asked is not None
    return status.asked
