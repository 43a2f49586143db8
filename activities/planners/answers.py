"""The answer at the end: what was done by the results there are, what failed, and what was therefore left out."""

from collections.abc import Callable
from typing import Literal

from activities.planner import DraftReply
from activities.planners.command_answer import command_answer
from activities.playbook.model import Playbook
from activities.playbook.progress import Progress, Standing, State
from activities.playbook.references import Known, Unresolved, as_text, fill
from contracts.language import Language
from contracts.texts import planner as texts
from contracts.texts import playbook as playbook_texts
from contracts.texts.sentence import Sentence

_FAILURES: dict[str, Sentence] = {
    "browse": texts.FAILED_OPEN,
    "read": texts.FAILED_OPEN,
    "shell": texts.FAILED_RUN,
    "write": texts.FAILED_WRITE,
    "send": texts.FAILED_SEND,
}
_LEFT_OUT: dict[str, Sentence] = {"write": texts.NOT_WRITTEN, "send": texts.NOT_SENT}
_DONE: dict[str, Sentence] = {
    "write": texts.WRITTEN,
    "send": texts.SENT,
    "delete": texts.DELETED,
    "remember": texts.REMEMBERED,
}


def outcome_of(progress: Progress) -> Literal["done", "partly_failed", "failed"]:
    """Done only if nothing failed; a step that was not needed did not fail."""
    bad = progress.those(State.FAILED, State.STOPPED, State.REFUSED)
    if not bad:
        return "done"
    return "partly_failed" if progress.those(State.DONE) else "failed"


def answer_request(playbook: Playbook, progress: Progress, language: Language) -> DraftReply:
    """For what a person said in their own words or as a command."""
    parts = [_final_text(playbook, progress.known)]
    for standing in progress.standings:
        match standing.state:
            case State.DONE:
                parts.append(_done(standing, progress.known, language, has_text=bool(parts[0])))
            case State.FAILED:
                parts += [_failed(standing, progress.known, language), _output(standing)]
            case State.STOPPED:
                sentence = _LEFT_OUT.get(_kind(standing), texts.NOT_DONE)
                parts.append(sentence.say(language, what=_object(standing, progress.known)))
            case _:
                pass
    return DraftReply("\n\n".join(filter(None, parts)), outcome_of(progress))


def answer_playbook(playbook: Playbook, progress: Progress, language: Language) -> DraftReply:
    """For a playbook: its own answer, if all that it refers to is there, and one line for each step."""
    final = _final_text(playbook, progress.known)
    needed = {step_id for standing in progress.standings for step_id in standing.step.after}
    texts_of_ends = [
        standing.result.text
        for standing in progress.those(State.DONE)
        if standing.step.id not in needed and standing.result is not None and _kind(standing) not in _DONE
    ]
    lines = "\n".join(_line(standing, language) for standing in progress.standings)
    return DraftReply("\n\n".join(filter(None, [final or "\n\n".join(texts_of_ends), lines])), outcome_of(progress))


def _final_text(playbook: Playbook, known: Known) -> str:
    try:
        return as_text(fill(playbook.answer, known)).strip()
    except Unresolved:
        return ""


def _done(standing: Standing, known: Known, language: Language, *, has_text: bool) -> str:
    kind = _kind(standing)
    if kind in _DONE:
        return _DONE[kind].say(language, path=_object(standing, known), text=_object(standing, known))
    if has_text and standing.step.tool in ("browse", "read"):
        return ""
    if has_text and kind in ("shell", "show"):
        return ""
    return _output(standing) or (texts.NO_OUTPUT.say(language) if kind == "shell" else standing.reason)


def _failed(standing: Standing, known: Known, language: Language) -> str:
    reason = standing.reason
    if standing.missing:
        reason = (
            texts.NO_READABLE_TEXT.say(language)
            if standing.missing.endswith(("| summary", "| excerpt"))
            else playbook_texts.VALUE_MISSING.say(language, name=standing.missing)
        )
    sentence = _FAILURES.get(_kind(standing), texts.FAILED_STEP)
    return sentence.say(language, what=_object(standing, known), reason=reason)


def _output(standing: Standing) -> str:
    """What a command printed or a tool told, as it is."""
    if standing.result is None or _kind(standing) in _DONE:
        return ""
    text = standing.result.text.strip()
    if standing.state is State.FAILED and text == standing.reason:
        return ""
    return command_answer(standing.result) if text and standing.step.tool == "shell" else text


def _line(standing: Standing, language: Language) -> str:
    step = standing.step.id
    failed = standing.reason or playbook_texts.VALUE_MISSING.say(language, name=standing.missing)
    by_state: dict[State, Callable[[], str]] = {
        State.DONE: lambda: playbook_texts.STEP_DONE.say(language, step=step, headline=standing.reason),
        State.FAILED: lambda: playbook_texts.STEP_FAILED.say(language, step=step, reason=failed),
        State.STOPPED: lambda: playbook_texts.STEP_STOPPED.say(language, step=step, blamed=standing.blamed),
        State.REFUSED: lambda: playbook_texts.STEP_REFUSED.say(language, step=step),
        State.SKIPPED: lambda: playbook_texts.STEP_SKIPPED.say(language, step=step),
    }
    if standing.step.tool == "ask_user" and standing.state is State.FAILED and not standing.missing:
        return playbook_texts.STEP_WITHOUT_ANSWER.say(language, step=step)
    return by_state[standing.state]()


def _kind(standing: Standing) -> str:
    """The tool, or the operation of a file."""
    operation = standing.step.args.get("operation")
    return str(operation) if standing.step.tool == "files" else standing.step.tool


def _object(standing: Standing, known: Known) -> str:
    """What the step is about: its path, address, text or script."""
    args = standing.step.args
    name = next((name for name in ("path", "url", "text", "query", "script") if name in args), "")
    result = standing.result
    if name == "path" and result is not None and isinstance(result.data.get("path"), str):
        return str(result.data["path"])
    try:
        value = args.get(name) if standing.step.verbatim else fill(args.get(name), known)
    except Unresolved:
        return standing.step.id
    return as_text(value)[:200] or standing.step.id
