"""Read the tables of cases beside this file."""

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from contracts.messages import HostGrant
from contracts.provenance import Provenance
from contracts.verdicts import Action, Actor, CommandAction, Question, Verdict, VisitAction
from policy.file import parse
from policy.judge import judge
from policy.roles import Policy

CASES = Path(__file__).with_name("cases")
TRUSTED = Provenance(trusted=True, origins=("user",))


@dataclass(frozen=True)
class Case:
    """One question, and the verdicts that count as right."""

    action: Action
    expected: str
    accept: tuple[str, ...]


def reference_policy() -> Policy:
    return parse((CASES / "reference.yaml").read_text(encoding="utf-8"), "reference.yaml")


def rows(name: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in (CASES / name).read_text(encoding="utf-8").splitlines()]


def parameters(name: str) -> list[object]:
    """One parameter a line; its id is the number of the line, since commands make poor ids."""
    lines = (CASES / name).read_text(encoding="utf-8").splitlines()
    return [pytest.param(_case(line), id=f"{name}:{number}") for number, line in enumerate(lines, start=1)]


def _case(line: str) -> Case:
    row = json.loads(line)
    if "cmd" in row:
        return Case(CommandAction(script=row["cmd"]), row["expected"], tuple(row["accept"]))
    visit = VisitAction(
        url=row["url"], dns=tuple(map(tuple, row.get("dns", ()))), redirects=tuple(row.get("redirect", ()))
    )
    return Case(visit, row["expected"], tuple(row["accept"]))


def ask_policy(
    *actions: Action,
    policy: Policy | None = None,
    role: str | None = None,
    spoken: tuple[str, ...] = (),
    approved: tuple[HostGrant, ...] = (),
    provenance: Provenance = TRUSTED,
    tainted: bool = False,
) -> Verdict:
    """Put a question about the actions; without a policy, to the reference one."""
    chosen = policy or reference_policy()
    actor = Actor(user_id="person", role=role or next(iter(chosen.roles)), channel="cli")
    question = Question(
        actor=actor,
        tool="tool",
        args={},
        actions=actions,
        spoken_hosts=spoken,
        approved_hosts=approved,
        provenance=provenance,
        tainted=tainted,
    )
    return judge(question, chosen)
