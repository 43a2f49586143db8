"""Where a playbook stands, derived from what its calls gave so far; nothing is kept between two looks."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from activities.playbook.model import Playbook, Step
from activities.playbook.references import Known, Unresolved, fill_object, references_in
from activities.playbook.scripts import UnsafeScript, fill_script
from activities.playbook.when import holds
from contracts.tools import ToolResult
from contracts.values import JsonObject

REDO = 2
"""How often a repeatable step is tried in all if its sandbox is lost."""


CONTENT = frozenset({("shell", "script"), ("files", "content")})
"""Arguments in which a result can only be content; in a script it is the value of a variable, never code."""


class State(StrEnum):
    """How far one step is."""

    WAITING = "waiting"
    """Something that it needs has not ended."""
    READY = "ready"
    ASKING = "asking"
    """The person must say something first, or this is the question itself."""
    DONE = "done"
    FAILED = "failed"
    REFUSED = "refused"
    """The person said no."""
    SKIPPED = "skipped"
    """Its condition did not hold, or it waits for a step that was skipped."""
    STOPPED = "stopped"
    """A step that it needs did not succeed."""


@dataclass(frozen=True)
class Outcome:
    """What a call gave."""

    ok: bool
    headline: str
    error: str | None = None
    result: ToolResult | None = None
    attempts: int = 1


@dataclass(frozen=True)
class Past:
    """All that happened to a playbook, by step id."""

    outcomes: Mapping[str, Outcome] = field(default_factory=dict)
    answers: Mapping[str, str | None] = field(default_factory=dict)
    """The person's words for a step's question; None if the question was closed without an answer."""
    consents: Mapping[str, bool] = field(default_factory=dict)


@dataclass(frozen=True)
class Standing:
    """One step now: its filled arguments where it is ready, its reason where it did not succeed."""

    step: Step
    state: State
    args: JsonObject = field(default_factory=dict)
    reason: str = ""
    blamed: str = ""
    """The step that stopped it."""
    missing: str = ""
    """The reference that has no value."""
    result: ToolResult | None = None
    steered: bool = False
    """True if what an earlier step gave decides where or on what this one acts."""


@dataclass(frozen=True)
class Progress:
    """All steps now, in the order of the playbook."""

    standings: tuple[Standing, ...]
    known: Known

    def those(self, *states: State) -> tuple[Standing, ...]:
        return tuple(standing for standing in self.standings if standing.state in states)


def progress(playbook: Playbook, inputs: Mapping[str, str], past: Past, repeatable: frozenset[str]) -> Progress:
    """Look at every step once, in order; `repeatable` names the tools that may run twice."""
    known = Known(inputs=inputs)
    standings: dict[str, Standing] = {}
    for step in playbook.steps:
        standing = _standing(step, known, past, standings, repeatable)
        standings[step.id] = standing
        known = _learned(known, standing, past)
    return Progress(tuple(standings.values()), known)


def _learned(known: Known, standing: Standing, past: Past) -> Known:
    if standing.state is not State.DONE:
        return known
    step_id = standing.step.id
    answer = past.answers.get(step_id)
    if answer is not None:
        return replace(known, answers={**known.answers, step_id: answer})
    return known if standing.result is None else replace(known, results={**known.results, step_id: standing.result})


def _standing(
    step: Step, known: Known, past: Past, before: Mapping[str, Standing], repeatable: frozenset[str]
) -> Standing:
    outcome = past.outcomes.get(step.id)
    if outcome is not None and not _may_redo(step, outcome, repeatable):
        state = State.DONE if outcome.ok else State.FAILED
        return Standing(step, state, reason=outcome.headline, result=outcome.result)
    held_up = _held_up(step, before)
    if held_up is not None:
        return held_up
    try:
        if step.when is not None and not holds(step.when, known):
            return Standing(step, State.SKIPPED)
        args = _filled(step, known)
    except Unresolved as error:
        return Standing(step, State.FAILED, missing=str(error))
    except UnsafeScript as error:
        return Standing(step, State.FAILED, reason=str(error))
    return _asked(step, args, past)


def _may_redo(step: Step, outcome: Outcome, repeatable: frozenset[str]) -> bool:
    """A call that died with its sandbox may run again if that does no harm."""
    return outcome.error == "sandbox_lost" and outcome.attempts < REDO and step.tool in repeatable


def _held_up(step: Step, before: Mapping[str, Standing]) -> Standing | None:
    needed = [before[step_id] for step_id in step.after]
    for other in needed:
        if other.state in (State.FAILED, State.REFUSED, State.STOPPED):
            return Standing(step, State.STOPPED, blamed=other.blamed or other.step.id)
    if any(other.state is State.SKIPPED for other in needed):
        return Standing(step, State.SKIPPED)
    return None if all(other.state is State.DONE for other in needed) else Standing(step, State.WAITING)


def _filled(step: Step, known: Known) -> JsonObject:
    if step.verbatim:
        return step.args
    script = step.args.get("script")
    if step.tool != "shell" or not isinstance(script, str):
        return fill_object(step.args, known)
    rest = fill_object({name: value for name, value in step.args.items() if name != "script"}, known)
    filled, values = fill_script(script, known)
    return {**rest, "script": filled, **({"env": dict(values)} if values else {})}


def _asked(step: Step, args: JsonObject, past: Past) -> Standing:
    if step.tool == "ask_user":
        if step.id not in past.answers:
            return Standing(step, State.ASKING, args)
        return Standing(step, State.FAILED if past.answers[step.id] is None else State.DONE)
    if step.approve and step.id not in past.consents:
        return Standing(step, State.ASKING, args)
    if step.approve and not past.consents[step.id]:
        return Standing(step, State.REFUSED)
    return Standing(step, State.READY, args, steered=is_steered(step, past.answers))


def is_steered(step: Step, answers: Mapping[str, str | None]) -> bool:
    """Whether a result stands where it is more than content: in an address, a path, a name, an option."""
    return any(
        reference.source == "steps" and reference.name not in answers
        for name, value in step.args.items()
        if (step.tool, name) not in CONTENT
        for reference in references_in(value)
    )
