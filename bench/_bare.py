"""The peer of `overhead.py`: the barest durable loop that temporalio allows, two no-op activities a step."""

from datetime import timedelta

from temporalio import activity, workflow


@activity.defn
async def first(value: str) -> str:
    return value


@activity.defn
async def second(value: str) -> str:
    return value


@workflow.defn
class BareLoop:
    """Does nothing, durably."""

    @workflow.run
    async def run(self, steps: int) -> int:
        for _ in range(steps):
            await workflow.execute_activity(first, "a", start_to_close_timeout=timedelta(seconds=10))
            await workflow.execute_activity(second, "b", start_to_close_timeout=timedelta(seconds=10))
        return steps
