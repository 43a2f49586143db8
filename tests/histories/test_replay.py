"""The present workflow code does the same as the code that these histories were recorded with."""

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import WorkflowHistory
from temporalio.worker import Replayer

from gateway.cli.histories import read_histories
from runtime.plugin import agent_os_plugin
from tests.histories.keyring import fixed_keyring
from tests.histories.record import SCENARIOS, file_of, recorded
from tests.histories.sealed import unsealed
from workflows.conversation import ConversationWorkflow
from workflows.sandbox import SandboxWorkflow
from workflows.task import TaskWorkflow

Events = list[dict[str, Any]]


async def first_difference(history: WorkflowHistory) -> str | None:
    """Where the present code does something else."""
    plugin = agent_os_plugin(fixed_keyring(), sandboxed=True)
    replayer = Replayer(workflows=[TaskWorkflow, ConversationWorkflow, SandboxWorkflow], plugins=[plugin])
    result = await replayer.replay_workflow(history, raise_on_replay_failure=False)
    return None if result.replay_failure is None else str(result.replay_failure)


def test_every_scenario_has_its_history_and_no_history_lies_about_without_one() -> None:
    assert {path.stem for path in recorded()} == set(SCENARIOS), "run `make histories`"


@pytest.mark.parametrize("name", sorted(SCENARIOS))
async def test_a_recorded_history_replays_without_a_difference(name: str) -> None:
    for history in read_histories(file_of(name)):
        assert await first_difference(history) is None, f"{name}: see `asos replay`, or run `make histories`"


def test_the_continued_task_has_more_than_one_run() -> None:
    assert len(read_histories(file_of("continued_as_new"))) > 1


@pytest.mark.parametrize("path", recorded(), ids=lambda path: path.stem)
def test_every_payload_in_a_recorded_history_is_sealed(path: Path) -> None:
    for history in read_histories(path):
        assert not unsealed(history), "a payload went to the server in clear"


def another_activity_id(events: Events) -> Events:
    first_of(events, "activityTaskScheduledEventAttributes")["activityId"] = "another"
    return events


def another_activity(events: Events) -> Events:
    first_of(events, "activityTaskScheduledEventAttributes")["activityType"]["name"] = "another"
    return events


def an_event_less(events: Events) -> Events:
    gone = next(index for index, event in enumerate(events) if "activityTaskScheduledEventAttributes" in event)
    return events[:gone] + events[gone + 1 :]


def an_activity_more(events: Events) -> Events:
    place = next(index for index, event in enumerate(events) if "activityTaskScheduledEventAttributes" in event)
    more = copy.deepcopy(events[place])
    more["activityTaskScheduledEventAttributes"]["activityId"] = "more"
    for event in events[place:]:
        event["eventId"] = str(int(event["eventId"]) + 1)
    return [*events[:place], more, *events[place:]]


def first_of(events: Events, attributes: str) -> dict[str, Any]:
    found: dict[str, Any] = next(event[attributes] for event in events if attributes in event)
    return found


@pytest.mark.parametrize("change", [another_activity_id, another_activity, an_event_less, an_activity_more])
async def test_a_history_that_differs_from_what_the_code_does_is_noticed(change: Callable[[Events], Events]) -> None:
    (history,) = read_histories(file_of("calls_in_a_sandbox"))
    assert await first_difference(history) is None
    content = history.to_json_dict()
    changed = {"events": change(content["events"])}

    assert await first_difference(WorkflowHistory.from_json(history.workflow_id, changed)) is not None
