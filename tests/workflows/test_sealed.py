"""What the Temporal server is given of a task is ciphertext: requests, arguments, results, failures."""

import pytest
from temporalio.client import WorkflowFailureError
from temporalio.exceptions import ApplicationError

from contracts.activities import RunOutcome, RunRequest
from contracts.planning import Reply
from tests.histories.sealed import unsealed
from tests.workflows.saying import scripted
from tests.workflows.stage import call, calls, stage

CANARY = "canary-51c07e"


async def test_nothing_of_a_task_is_readable_on_the_server() -> None:
    def breaks(_: RunRequest) -> RunOutcome:
        raise ApplicationError(f"cannot {CANARY}", non_retryable=True)

    script = scripted(calls(call(script=f"echo {CANARY}")), Reply(text=f"not {CANARY}", outcome="failed"))
    script.tool = breaks
    async with stage(script) as on:
        handle = await on.start(on.input(f"say {CANARY}"))
        with pytest.raises(WorkflowFailureError):
            await handle.result()

        history = await handle.fetch_history()

    assert unsealed(history) == []
    assert CANARY not in history.to_json()
