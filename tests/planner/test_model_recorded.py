"""A model that is asked is written down before and after, without a word of what was said; rules are not."""

import pytest
from temporalio.testing import ActivityEnvironment

from activities.planner import DraftReply, PlannerBusy
from activities.planning import Thinking
from audit.storage import StorageUnusable
from contracts.planning import PlanRequest, Usage
from contracts.transcript import UserTurn
from tests.planner.test_planning import Scripted
from tests.planner.world import NOON
from tests.tools.conftest import MemoryBlobs
from tests.tools.test_recording import Kept

REQUEST = PlanRequest(
    task_id="t1", step=1, language="en", transcript_ref=None, additions=(UserTurn(text="my own words", at=NOON),)
)


async def plan(planner: Scripted, kept: Kept, model: str) -> None:
    thinking = Thinking(planner=planner, tools={}, blobs=MemoryBlobs(), recorder=kept, model=model)
    await ActivityEnvironment().run(thinking.plan, REQUEST)


async def test_a_model_s_call_has_a_beginning_and_an_end_with_what_it_used() -> None:
    kept, planner = Kept(), Scripted(DraftReply(text="the answer"))

    await plan(planner, kept, "openai/gpt-5")

    assert kept.kinds == ["model.begun", "model.ended"]
    assert (kept.events[1].data["model"], kept.events[1].data["error"]) == ("openai/gpt-5", "")
    assert set(Usage.model_fields) <= set(kept.events[1].data)
    assert "words" not in str([event.data for event in kept.events])
    assert "answer" not in str([(event.data, event.words) for event in kept.events])


async def test_one_that_fails_has_an_end_with_the_kind_of_failure() -> None:
    kept = Kept()

    with pytest.raises(Exception, match="later"):
        await plan(Scripted(PlannerBusy("later")), kept, "m")

    assert kept.events[-1].data["error"] == "PlannerBusy"


async def test_without_a_record_no_model_is_asked() -> None:
    planner = Scripted(DraftReply(text="-"))

    with pytest.raises(StorageUnusable):
        await plan(planner, Kept(full="model.begun"), "m")

    assert planner.seen == []


async def test_rules_are_no_model() -> None:
    kept = Kept()

    await plan(Scripted(DraftReply(text="-")), kept, "")

    assert kept.events == []
