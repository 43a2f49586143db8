"""The engine behind the gateway in tests: the real server and workflows, and activities that follow a script."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

from temporalio.client import Client
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from contracts.activities import JudgeRequest
from contracts.planning import AskUser, NextStep, PlanRequest, Reply
from contracts.queues import GATEWAY, WORKFLOWS
from contracts.transcript import UserTurn
from contracts.verdicts import Allow, Ask, Reason, Verdict
from tests.workflows.stage import Script, call, calls, hosted, served
from workflows.conversation import ConversationWorkflow
from workflows.sandbox import SandboxWorkflow
from workflows.task import TaskWorkflow


def plan(request: PlanRequest) -> NextStep:
    """Does what the words say: `echo …` replies, `risky …` runs a call that must be approved, `ask …` asks."""
    said = [turn.text for turn in request.additions if isinstance(turn, UserTurn)]
    if request.step == 1 and said:
        verb, _, rest = said[0].partition(" ")
        if verb in ("run", "risky", "slow"):
            return calls(call(verb, command=rest))
        if verb == "ask":
            return AskUser(question=rest, choices=("red", "blue"))
        return Reply(text=f"you said: {rest or verb}")
    return Reply(text=f"done: {said[-1]}" if said else "done")


def judge(request: JudgeRequest) -> Verdict:
    if request.call.tool == "risky":
        return Ask(reasons=(Reason(rule="data_deletion", detail="build"),), effects=("delete",), risk=60)
    return Allow()


def script() -> Script:
    return Script(plan_step=plan, verdict=judge)


@asynccontextmanager
async def workers(client: Client, acting: Script) -> AsyncIterator[None]:
    """Everything but the gateway's own queue."""
    async with AsyncExitStack() as stack:
        workflows: Sequence[type] = [TaskWorkflow, ConversationWorkflow, SandboxWorkflow]
        await stack.enter_async_context(
            Worker(
                client,
                task_queue=WORKFLOWS,
                workflows=workflows,
                activities=[acting.judge, acting.note_approval, acting.plan],
                workflow_runner=UnsandboxedWorkflowRunner(),
            )
        )
        for queue, activities in [*served(client, acting), *hosted(acting)]:
            if queue != GATEWAY:
                await stack.enter_async_context(Worker(client, task_queue=queue, activities=activities))
        yield
