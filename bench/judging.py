"""How long policy takes: microseconds for one verdict on a command, an address and a tool's file."""

import argparse
import json
import os
import statistics
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from contracts.verdicts import Action, Actor, CommandAction, FileAction, Question, VisitAction
from policy.commands.grammar import parse as parse_script
from policy.file import parse
from policy.judge import judge
from policy.roles import Policy
from tests.policy.cases_file import CASES, rows

RULES = 500
"""Lines of the large policy."""


def questions(kind: str) -> list[Action]:
    """The cases of the tests, as they are."""
    if kind == "command":
        names = ("commands.jsonl", "everyday.jsonl")
        return [CommandAction(script=str(row["cmd"])) for name in names for row in rows(name)]
    if kind == "address":
        return [VisitAction(url=str(row["url"])) for name in ("urls.jsonl", "addresses.jsonl") for row in rows(name)]
    return [FileAction(operation="write", path=f"src/part_{number}/../module.py") for number in range(200)]


def large_policy() -> Policy:
    """The reference policy with many more lines, none of which apply."""
    hosts = ", ".join(f"host-{number}.example.org" for number in range(RULES // 2))
    folders = ", ".join(f"/srv/data/{number}" for number in range(RULES // 2))
    text = (CASES / "reference.yaml").read_text(encoding="utf-8")
    text = text.replace("read: [github.com", f"read: [{hosts}, github.com")
    return parse(text.replace("read: [/workspace", f"read: [{folders}, /workspace"), "large")


def verdict_times(actions: list[Action], policy: Policy, rounds: int) -> list[float]:
    role = next(iter(policy.roles))
    actor = Actor(user_id="bench", role=role, channel="cli")
    asked = [Question(actor=actor, tool="bench", args={}, actions=(action,)) for action in actions]
    return list(_timed([partial(judge, question, policy) for question in asked], rounds))


def parse_times(rounds: int) -> list[float]:
    """The floor: only the parser, on the same commands."""
    scripts = [action.script or "" for action in questions("command") if isinstance(action, CommandAction)]
    return list(_timed([partial(parse_script, script) for script in scripts], rounds))


def _timed(calls: list[Callable[[], object]], rounds: int) -> Iterator[float]:
    for call in calls:
        call()
    for _ in range(rounds):
        for call in calls:
            started = time.perf_counter()
            call()
            yield (time.perf_counter() - started) * 1e6


def measure(rounds: int) -> dict[str, dict[str, float]]:
    """Small and large policy and the floor, one after the other in each round."""
    small, large = parse((CASES / "reference.yaml").read_text(encoding="utf-8"), "reference.yaml"), large_policy()
    samples: dict[str, list[float]] = {}
    for _ in range(rounds):
        samples.setdefault("command, parser alone", []).extend(parse_times(1))
        for kind in ("command", "address", "file"):
            samples.setdefault(kind, []).extend(verdict_times(questions(kind), small, 1))
            samples.setdefault(f"{kind}, {RULES} rules", []).extend(verdict_times(questions(kind), large, 1))
    return {name: summary(values) for name, values in samples.items()}


def summary(values: list[float]) -> dict[str, float]:
    cuts = statistics.quantiles(values, n=100)
    return {"p50": statistics.median(values), "p95": cuts[94], "p99": cuts[98], "samples": len(values)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="end within 45 seconds")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    arguments = parser.parse_args()
    figures = measure(2 if arguments.quick else 20)
    print(f"{'microseconds per verdict':32}{'p50':>10}{'p95':>10}{'p99':>10}{'samples':>10}")
    for name, row in figures.items():
        print(f"{name:32}{row['p50']:10.0f}{row['p95']:10.0f}{row['p99']:10.0f}{row['samples']:10.0f}")
    ratios = {"command to its parser": figures["command"]["p50"] / figures["command, parser alone"]["p50"]}
    print(f"command to its parser: {ratios['command to its parser']:.1f}; load average {os.getloadavg()[0]:.1f}")
    if arguments.json:
        arguments.json.write_text(json.dumps({"figures": figures, "ratios": ratios}, indent=2) + "\n")


if __name__ == "__main__":
    main()
