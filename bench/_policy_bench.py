"""Microseconds for one decision of policy on a command, an address, a file and a tool, through the real judge.

Each with the shipped policy, with 500 more lines of hosts and folders, and with 500 policies in Cedar; with these the
tool's also in a context of 1 MB that strangers wrote, where its arguments are first taken to their sources.
Floors of the same run: the parsers alone, and Cedar alone.
"""

import gc
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

from ada_url import URL
from cedarpy import PolicySet, is_authorized

from bench._policy_cases import Case, Tracer, context_of, questions
from bench._report import arguments, report
from policy.commands.grammar import parse as parse_script
from policy.file import parse
from policy.judge import judge
from policy.roles import Policy
from policy.shipped import NAME, default_text

RULES = 500
"""Lines of the large policy, and policies of the Cedar floor."""
TARGET_MICROSECONDS = 5_000
"""What the 99th percentile of a decision has to stay under."""


@dataclass(frozen=True)
class Row:
    """One line of the table: what is timed, all of it once in each round."""

    name: str
    steps: Sequence[Callable[[], object]]


def shipped_policy() -> Policy:
    return parse(default_text(), NAME)


def large_policy() -> Policy:
    """The shipped policy with many more lines, none of which apply."""
    hosts = ", ".join(f"host-{number}.example.org" for number in range(RULES // 2))
    folders = ", ".join(f"/srv/data/{number}" for number in range(RULES // 2))
    text = default_text().replace("        read: []", f"        read: [{hosts}]", 1)
    return parse(text.replace("        read: [/workspace", f"        read: [{folders}, /workspace", 1), "large")


def policy_with_cedar() -> Policy:
    """The shipped policy with many prohibitions in Cedar: none applies, and none can be passed over by its scope."""
    half = range(RULES // 2)
    tests = [f'context.tool == "tool-{number}"' for number in half]
    tests += [f'context.host == "host-{number}.example.org"' for number in half]
    cedar = "\n".join(f"  forbid(principal, action, resource) when {{ {test} }};" for test in tests)
    return parse(f"cedar: |\n{cedar}\n{default_text()}", "with-cedar")


def rows() -> Iterable[Row]:
    """What is measured, floors first."""
    commands, addresses, files, tools = (questions(kind) for kind in ("command", "address", "file", "tool"))
    yield Row("command, parser alone", [partial(parse_script, case.text) for case in commands])
    yield Row("address, parser alone", [partial(_parse_address, case.text) for case in addresses])
    yield Row(f"Cedar alone, {RULES} policies", [_cedar()])
    policies = {"": shipped_policy(), f", {RULES} rules": large_policy(), f", {RULES} in Cedar": policy_with_cedar()}
    for kind, cases in (("command", commands), ("address", addresses), ("file", files), ("tool", tools)):
        for suffix, policy in policies.items():
            yield Row(f"{kind}{suffix}", [partial(judge, case.question, policy) for case in cases])
    yield from _tainted(tools, policy_with_cedar())


def _tainted(tools: Sequence[Case], policy: Policy) -> Iterable[Row]:
    """A decision in a task that has read 1 MB; the first one of a context also makes it ready for the others."""
    context = context_of(1_000_000)
    ready = context.ready()
    name = f"tool, {RULES} in Cedar, 1 MB tainted"
    yield Row(name, [partial(_traced_and_judged, case, lambda: ready, policy) for case in tools])
    yield Row(f"{name}, first", [partial(_traced_and_judged, case, context.ready, policy) for case in tools[:5]])


def _traced_and_judged(case: Case, ready: Callable[[], Tracer], policy: Policy) -> object:
    known = {"arguments": ready()(case), "tainted": True, "private": True}
    return judge(case.question.model_copy(update=known), policy)


def _parse_address(text: str) -> object:
    try:
        return URL(text)
    except ValueError:
        return None


def _cedar() -> Callable[[], object]:
    """One request, put to that many policies of which one applies."""
    policies = [
        f'permit(principal == User::"u{number}", action, resource == Host::"h{number}");' for number in range(RULES)
    ]
    ready = PolicySet.from_str("\n".join(policies))
    asked = {"principal": 'User::"u7"', "action": 'Action::"read"', "resource": 'Host::"h7"', "context": {}}
    return partial(is_authorized, asked, ready, [])


def measure(rounds: int) -> dict[str, dict[str, float]]:
    """All rows, one after the other in each round, so that a busy moment meets all of them."""
    given = list(rows())
    samples: dict[str, list[float]] = {row.name: [] for row in given}
    for row in given:
        for step in row.steps:
            step()
    for _ in range(rounds):
        for row in given:
            gc.collect()
            samples[row.name].extend(_timed(row.steps))
    return {name: summary(values) for name, values in samples.items()}


def _timed(steps: Sequence[Callable[[], object]]) -> Iterable[float]:
    """Of the processor, not of the clock: a decision waits for nothing, and what runs beside it is not its work."""
    for step in steps:
        started = time.thread_time()
        step()
        yield (time.thread_time() - started) * 1e6


def summary(values: Sequence[float]) -> dict[str, float]:
    ordered = sorted(values)
    at = {name: ordered[min(len(ordered) - 1, int(part * len(ordered)))] for name, part in _PARTS.items()}
    return {**at, "max": ordered[-1], "samples": float(len(ordered))}


_PARTS: Mapping[str, float] = {"p50": 0.5, "p95": 0.95, "p99": 0.99}


def main() -> None:
    given = arguments(__doc__)
    started = datetime.now(UTC)
    figures = measure(3 if given.quick else 30)
    decisions = {name: row for name, row in figures.items() if "alone" not in name}
    ratios = {
        "command to its parser": figures["command"]["p50"] / figures["command, parser alone"]["p50"],
        "address to its parser": figures["address"]["p50"] / figures["address, parser alone"]["p50"],
        "worst p99 to the target": max(row["p99"] for row in decisions.values()) / TARGET_MICROSECONDS,
    }
    beside = f"target p99 {TARGET_MICROSECONDS:,} µs; from {started:%Y-%m-%d %H:%M} UTC on"
    report("microseconds of processor time for one decision", figures, ratios, given, beside)


if __name__ == "__main__":
    main()
