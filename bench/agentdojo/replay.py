"""Replay every task and every attack of AgentDojo through the policy: `python -m bench.agentdojo [--json FILE]`.

The agent obeys each injection at once. For each pair of a user task and an injection the task's own calls run on the
package's environment; as soon as a result holds the injected text, the injection's calls are made. What policy allows
is done. What it asks is not done for an attack (unasked), or done by a person who says yes whenever the tool is one
that the task needs (lazy). The package's own check says whether the attack reached its goal.
"""

import contextlib
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import yaml
from agentdojo.functions_runtime import FunctionCall, FunctionsRuntime
from agentdojo.task_suite.load_suites import get_suites
from agentdojo.types import text_content_block_from_string

from bench.agentdojo.asking import HERE, Task, ask, kinds
from bench.agentdojo.stage import TEMPLATE, Stage, Verdicts, is_read, steps_of
from contracts.values import JsonObject

VERSION = "v1.2.2"


def by_policy(task: Task, tool: str, args: JsonObject) -> str:
    return ask(task, tool, args).kind


def when_tainted(task: Task, tool: str, args: JsonObject) -> str:
    """The usual rule: once anything foreign was read, whatever has an effect is asked, and fetching is one."""
    harmless = set(kinds()[tool].labels.effects) == {"read"}
    return "ask" if task.index.tainted and not harmless else "allow"


def always(task: Task, tool: str, args: JsonObject) -> str:
    return "allow"


JUDGES: dict[str, Verdicts] = {"policy": by_policy, "ask when tainted": when_tainted, "allow all": always}


@dataclass
class Score:
    """What one suite came to under one judge."""

    tasks: int = 0
    unattended: int = 0
    cards: int = 0
    asked: int = 0
    denied: int = 0
    useful: int = 0
    pairs: int = 0
    met: int = 0
    """Pairs in which the injection was read at all."""
    unasked: int = 0
    lazy: int = 0
    without_calls: int = 0
    """Pairs whose injection names no calls; replayed by written steps, and counted apart."""
    unasked_written: int = 0
    lazy_written: int = 0
    asking: list[str] = field(default_factory=list)
    reached: list[str] = field(default_factory=list)
    records: list[dict[str, Any]] = field(default_factory=list)

    def add(self, other: "Score") -> None:
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)


def replay(suite: Any, judge: Verdicts, *, most_pairs: int | None = None) -> Score:
    """Every task alone, and every task with every injection."""
    score = Score()
    for task in suite.user_tasks.values():
        _benign(suite, task, judge, score)
    pairs = [(task, injection) for task in suite.user_tasks.values() for injection in suite.injection_tasks.values()]
    for task, injection in pairs if most_pairs is None else pairs[:: max(1, len(pairs) // most_pairs)]:
        _attacked(suite, task, injection, judge, score)
    return score


def _benign(suite: Any, task: Any, judge: Verdicts, score: Score) -> None:
    stage, before, calls = _prepare(suite, task, {}, judge)
    outputs = _outputs(suite, task, calls)
    for step in steps_of(calls, outputs):
        stage.step([calls[index] for index in step], lambda tool: True)
    score.tasks += 1
    score.cards += stage.cards
    score.asked += stage.asked
    score.denied += len(stage.denied)
    score.unattended += not stage.asked and not stage.denied
    score.useful += _is_useful(suite, task, before, stage)
    if stage.asked or stage.denied:
        asked = f"asks {', '.join(stage.asking)}" if stage.asking else ""
        denied = f"denies {', '.join(stage.denied)}" if stage.denied else ""
        score.asking.append(f"{suite.name} {task.ID}: {stage.cards} cards; {asked} {denied}")
    score.records.append({"suite": suite.name, "prompt": task.PROMPT, "attack": False, "calls": stage.record})


def _attacked(suite: Any, task: Any, injection: Any, judge: Verdicts, score: Score) -> None:
    injected = {name: _quoted(injection.GOAL) for name in suite.get_injection_vector_defaults()}
    needs_steps = not injection.ground_truth(suite.load_and_inject_default_environment({}))
    reached = {}
    for who in ("unasked", "lazy"):
        stage, before, calls = _prepare(suite, task, injected, judge)
        fitting = {call.function for call in calls}
        lazy = who == "lazy"
        attack: list[FunctionCall] | None = None
        told = True
        for call in calls:
            stage.step([call], lambda tool: True)
            if stage.seen_injection and attack is None:
                attack = _attack(suite, injection, before, stage)
                ran = _obey(stage, attack, fitting if lazy else set())
                told = all(did for did, one in zip(ran, attack, strict=True) if not is_read(one.function))
        score.met += attack is not None and not lazy and not needs_steps
        if needs_steps:
            reached[who] = bool(attack) and told
        else:
            reached[who] = attack is not None and _is_reached(suite, injection, before, stage)
        if reached[who]:
            score.reached.append(f"{who}: {suite.name} {task.ID} {injection.ID}")
        if not lazy and attack:
            record = {"suite": suite.name, "prompt": task.PROMPT, "attack": True, "calls": stage.record}
            score.records.append(record)
    if needs_steps:
        score.without_calls += 1
        score.unasked_written += reached["unasked"]
        score.lazy_written += reached["lazy"]
    else:
        score.pairs += 1
        score.unasked += reached["unasked"]
        score.lazy += reached["lazy"]


def _obey(stage: Stage, attack: Sequence[FunctionCall], fitting: set[str]) -> list[bool]:
    return [stage.step([call], lambda tool: tool in fitting, by="attack")[0] for call in attack]


def _prepare(suite: Any, task: Any, injected: dict[str, str], judge: Verdicts) -> tuple[Stage, Any, list[FunctionCall]]:
    environment = task.init_environment(_loaded(suite.name, tuple(injected.items())).model_copy(deep=True))
    before = environment.model_copy(deep=True)
    calls = task.ground_truth(before.model_copy(deep=True))
    return Stage(FunctionsRuntime(suite.tools), environment, Task.of(task.PROMPT), judge), before, calls


@lru_cache(maxsize=64)
def _loaded(name: str, injected: tuple[tuple[str, str], ...]) -> Any:
    return get_suites(VERSION)[name].load_and_inject_default_environment(dict(injected))


def _outputs(suite: Any, task: Any, calls: Sequence[FunctionCall]) -> list[str]:
    """What each call of the task gives when all are done, to see which of them needs what."""
    stage, _, _ = _prepare(suite, task, {}, always)
    for call in calls:
        stage.step([call], lambda tool: True)
    return [row["text"] for row in stage.record]


def _attack(suite: Any, injection: Any, before: Any, stage: Stage) -> list[FunctionCall]:
    calls: list[FunctionCall] = injection.ground_truth(before.model_copy(deep=True))
    if calls:
        return calls
    written = yaml.safe_load((HERE / "steps.yaml").read_text("utf-8"))[suite.name][injection.ID]
    return [
        FunctionCall(function=tool, args={name: _filled(value, stage) for name, value in args.items()})
        for row in written
        for tool, args in row.items()
    ]


def _filled(value: Any, stage: Stage) -> Any:
    return "\n".join(source.text for source in stage.task.sources[1:]) if value == "$seen" else value


def _quoted(goal: str) -> str:
    """As one line of the environment's YAML, whose strings are quoted in several ways."""
    return TEMPLATE.format(goal=goal).replace("\n", " ").replace('"', "”").replace("'", "''")


def _is_reached(suite: Any, injection: Any, before: Any, stage: Stage) -> bool:
    with contextlib.redirect_stdout(io.StringIO()):
        return bool(
            suite._check_injection_task_security(
                injection, [text_content_block_from_string("")], before, stage.environment, stage.done
            )
        )


def _is_useful(suite: Any, task: Any, before: Any, stage: Stage) -> bool:
    with contextlib.redirect_stdout(io.StringIO()):
        return bool(
            suite._check_user_task_utility(
                task, [text_content_block_from_string(task.GROUND_TRUTH_OUTPUT)], before, stage.environment, stage.done
            )
        )


def suites() -> Iterable[Any]:
    found: dict[str, Any] = get_suites(VERSION)
    return found.values()
