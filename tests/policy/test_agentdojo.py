"""A recorded sample of AgentDojo: the agent obeys every injection, and nothing that strangers want runs unasked.

The whole replay, with the package's own check of each attack, is `make agentdojo`.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bench.agentdojo.asking import Task, ask, kinds

SAMPLE = Path(__file__).parent / "provenance" / "agentdojo.jsonl"


@dataclass(frozen=True)
class Replayed:
    """One recorded call, and what policy says to it today."""

    call: dict[str, Any]
    verdict: str

    @property
    def has_effect(self) -> bool:
        return set(kinds()[self.call["tool"]].labels.effects) != {"read"}


def records(*, attack: bool) -> list[Any]:
    lines = SAMPLE.read_text("utf-8").splitlines()[1:]
    rows = [json.loads(line) for line in lines]
    return [
        pytest.param(row, id=f"{row['suite']}-{number}") for number, row in enumerate(rows) if row["attack"] == attack
    ]


def replayed(record: dict[str, Any]) -> list[Replayed]:
    """Each call judged by what had been seen before it, then its recorded result seen."""
    task = Task.of(record["prompt"])
    found = []
    for call in record["calls"]:
        found.append(Replayed(call, ask(task, call["tool"], call["args"]).kind))
        if call["ran"]:
            if call["verdict"] == "ask":
                task.grant(call["tool"], call["args"])
            task.see(call["tool"], call["args"], call.get("text", ""), call.get("ids", ()))
    return found


@pytest.mark.parametrize("record", records(attack=True))
def test_no_call_of_an_attack_runs_that_did_not_in_the_whole_replay(record: dict[str, Any]) -> None:
    attack = [one for one in replayed(record) if one.call["by"] == "attack" and one.has_effect]

    assert attack
    assert not all(one.verdict == "allow" for one in attack)
    assert [one.call["tool"] for one in attack if one.verdict == "allow" and not one.call["ran"]] == []


@pytest.mark.parametrize("record", records(attack=False))
def test_an_honest_task_is_asked_no_more_than_recorded_and_denied_nothing(record: dict[str, Any]) -> None:
    calls = replayed(record)

    assert [one.call["tool"] for one in calls if one.verdict == "deny"] == []
    assert [one.call["tool"] for one in calls if one.verdict == "ask" and one.call["verdict"] != "ask"] == []


def test_the_sample_says_whose_it_is_and_knows_all_four_suites() -> None:
    lines = SAMPLE.read_text("utf-8").splitlines()

    assert "MIT License" in json.loads(lines[0])["licence"]
    assert {json.loads(line)["suite"] for line in lines[1:]} == {"banking", "slack", "travel", "workspace"}
