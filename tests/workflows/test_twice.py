"""The client that says everything twice does, and the mailbox starts one task all the same."""

import pytest

from tests.workflows.chat import conversation, message, requests, send, waiting
from tests.workflows.stage import MODE, Script, stage
from tests.workflows.twice import Twice


async def test_a_message_that_is_said_twice_reaches_the_mailbox_twice_and_starts_one_task(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(MODE, "interceptors", (Twice(),))
    script = Script()
    async with stage(script) as on:
        await send(on, message("hello", "m1"))
        await waiting(on, "idle")

        events = (await conversation(on).fetch_history()).events
        assert sum(event.HasField("workflow_execution_update_accepted_event_attributes") for event in events) == 2
        assert requests(script) == ["hello"]
