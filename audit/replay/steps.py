"""From audit lines to steps: what one call was, what was said about it, and what it gave."""

import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field

from pydantic import JsonValue

from audit.replay.recorded import Given, Line, Recording
from contracts.values import JsonObject


@dataclass
class Step:
    """One call; each line has its number in the recording."""

    call_id: str
    lines: list[tuple[int, Line]] = field(default_factory=list)
    given: Given | None = None

    @property
    def first(self) -> int:
        return self.lines[0][0]

    @property
    def verdict(self) -> Line | None:
        return next((line for _, line in self.lines if line.kind == "verdict"), None)

    @property
    def tool(self) -> str:
        """As it was called; of a tool that there is not, what the planner said."""
        for _, line in self.lines:
            for source in (line.data, line.words or {}):
                if isinstance(tool := source.get("tool"), str):
                    return tool
        return ""

    def moment(self, kind: str) -> int | None:
        """The number of its last line of a kind."""
        return next((number for number, line in reversed(self.lines) if line.kind == kind), None)


@dataclass(frozen=True)
class Aside:
    """A line that belongs to no call."""

    number: int
    line: Line


Entry = Step | Aside


def entries(recording: Recording) -> list[Entry]:
    """Steps and asides, in the order in which they began."""
    steps: dict[str, Step] = {}
    ordered: list[Entry] = []
    for number, line in enumerate(recording.lines):
        if line.call_id is None:
            ordered.append(Aside(number, line))
            continue
        step = steps.get(line.call_id)
        if step is None:
            step = steps[line.call_id] = Step(line.call_id, given=recording.given.get(line.call_id))
            ordered.append(step)
        step.lines.append((number, line))
    return ordered


def commands(step: Step) -> Iterator[str]:
    """Every command of the call, as a person would type it."""
    for action in _actions(step):
        script, argv = action.get("script"), action.get("argv")
        if isinstance(script, str):
            yield script
        elif isinstance(argv, list):
            yield shlex.join(str(word) for word in argv)


def arguments(step: Step) -> JsonValue:
    """What the call was given."""
    question = _question(step)
    return question.get("args") if question else None


def output(given: Given) -> str:
    """What a command wrote; of any other call its text."""
    written = [given.result.data.get(name) for name in ("stdout", "stderr")]
    texts = [text for text in written if isinstance(text, str) and text]
    return "".join(text if text.endswith("\n") else f"{text}\n" for text in texts) or given.result.text


def _question(step: Step) -> JsonObject | None:
    verdict = step.verdict
    question = (verdict.words or {}).get("question") if verdict else None
    return question if isinstance(question, dict) else None


def _actions(step: Step) -> Iterator[JsonObject]:
    question = _question(step)
    actions = question.get("actions") if question else None
    for action in actions if isinstance(actions, list) else ():
        if isinstance(action, dict) and action.get("kind") == "command":
            yield action
