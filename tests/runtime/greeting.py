"""A small workflow to try the wiring with."""

from datetime import timedelta

from temporalio import activity, workflow
from temporalio.exceptions import ApplicationError

from contracts.messages import Sender

CANARY = "canary-7f3a"


@activity.defn
async def greet(sender: Sender) -> Sender:
    if sender.id == "fail":
        raise ApplicationError(f"failed with {CANARY}", {"why": CANARY}, non_retryable=True)
    return sender.model_copy(update={"name": f"{CANARY} {sender.name}"})


@workflow.defn
class Greeting:
    """Draws from the random source, so that a wiring that differs in a replay is noticed."""

    @workflow.run
    async def run(self, sender: Sender) -> Sender:
        for _ in range(6):
            if workflow.uuid4().int % 2:
                await workflow.sleep(0.001)
        return await workflow.execute_activity(greet, sender, start_to_close_timeout=timedelta(seconds=10))
