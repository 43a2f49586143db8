"""How a task looks to its person while it goes on: phase, goal, steps, and the question that waits."""

from collections.abc import Iterator
from datetime import datetime

from contracts.language import Language
from contracts.task import Approval, Asked, Phase, StepView, TaskStatus
from contracts.texts import approvals as approval_texts
from contracts.texts import gateway as texts
from contracts.texts.sentence import Sentence
from gateway.buttons import Action, Press, token_of, token_of_question
from gateway.card import SentenceFor, card_lines
from gateway.channel import Button, Page
from gateway.markdown import to_spans
from gateway.rich import Span, Spans, bold, clip, code, cut, length, plain, pre, text_of

STEPS_SHOWN = 8
STEP_CHARACTERS = 160
GOAL_CHARACTERS = 200
CHOICE_CHARACTERS = 40
CHOICES_SHOWN = 8
MARKS = {"running": "▸", "done": "✔", "failed": "✘", "denied": "⊘", "waiting": "…"}

PHASES: dict[Phase, tuple[str, Sentence]] = {
    Phase.QUEUED: ("⏳", texts.QUEUED),
    Phase.LEASING: ("📦", texts.LEASING),
    Phase.PLANNING: ("💭", texts.PLANNING),
    Phase.ACTING: ("⚙", texts.ACTING),
    Phase.AWAITING_APPROVAL: ("🔐", texts.AWAITING_APPROVAL),
    Phase.AWAITING_USER: ("❓", texts.AWAITING_USER),
    Phase.PAUSED: ("⏸", texts.PAUSED),
    Phase.COMPLETED: ("✅", texts.COMPLETED),
    Phase.FAILED: ("❌", texts.FAILED),
    Phase.CANCELLED: ("⏹", texts.CANCELLED),
}
NOTES = {
    "sandbox_lost": texts.NOTE_SANDBOX_LOST,
    "sandbox_restored": texts.NOTE_SANDBOX_RESTORED,
    "resumed_after_restart": texts.NOTE_RESUMED,
    "stops_trying": approval_texts.STOPS_TRYING,
    "halted": texts.NOTE_HALTED,
}


def progress_page(status: TaskStatus, now: datetime, sentence_for: SentenceFor, limit: int) -> Page:
    """The one message of a running task; what does not fit into `limit` is the older steps, then the preview's end."""
    language = status.language
    head = (*_phase(status, now), plain("\n"), plain(clip(status.goal, GOAL_CHARACTERS)))
    notes = tuple(plain(f"\nℹ {NOTES[note].say(language)}") for note in dict.fromkeys(status.notes) if note in NOTES)
    steps = tuple(_steps(status.steps, language))
    room = limit - length(text_of((*head, *notes)))
    question = _question(status, sentence_for, room)
    if length(text_of(steps)) + length(text_of(question)) > room:
        steps = ()
    return Page((*head, *notes, *steps, *question), tuple(_buttons(status)))


def _phase(status: TaskStatus, now: datetime) -> Spans:
    icon, sentence = PHASES[status.phase]
    line = f"{icon} {sentence.say(status.language)}"
    parts = [texts.STEP.say(status.language, step=status.step)] if status.step else []
    parts.append(elapsed(int((now - status.record.created_at).total_seconds()), status.language))
    return bold(line), plain(" · " + " · ".join(parts))


def elapsed(seconds: int, language: Language) -> str:
    """A duration as people say it."""
    seconds = max(0, seconds)
    if seconds < 60:
        return texts.SECONDS.say(language, seconds=seconds)
    if seconds < 3600:
        return texts.MINUTES.say(language, minutes=seconds // 60)
    return texts.HOURS.say(language, hours=seconds // 3600, minutes=seconds % 3600 // 60)


def _steps(steps: tuple[StepView, ...], language: Language) -> Iterator[Span]:
    if not steps:
        return
    yield plain("\n")
    hidden = len(steps) - STEPS_SHOWN
    if hidden > 0:
        yield plain("\n" + texts.EARLIER_STEPS.say(language, count=hidden))
    for line in steps[-STEPS_SHOWN:]:
        yield plain(f"\n{MARKS[line.state]} {clip(' '.join(line.summary.split()), STEP_CHARACTERS)}")


def _question(status: TaskStatus, sentence_for: SentenceFor, room: int) -> Spans:
    if status.approval is not None:
        return _approval(status.approval, status.language, sentence_for, room)
    if status.asked is not None:
        return _asked(status.asked, status.language, room)
    return ()


def _approval(approval: Approval, language: Language, sentence_for: SentenceFor, room: int) -> Spans:
    head = (
        plain("\n\n"),
        bold(f"🔐 {texts.MAY_I.say(language)}"),
        plain(f"\n{clip(approval.summary, GOAL_CHARACTERS)}\n{texts.TOOL.say(language)}"),
        code(approval.tool),
        plain(f" · {texts.RISK.say(language, risk=approval.risk)}\n"),
    )
    tail = tuple(_circumstances(approval, language, sentence_for))
    space = max(0, room - length(text_of((*head, *tail))))
    return (*head, *_preview(approval.preview, language, space), *tail)


def _preview(preview: str, language: Language, space: int) -> Spans:
    if not preview.strip():
        return ()
    if length(preview) <= space:
        return (pre(preview),)
    clipped = texts.PREVIEW_CLIPPED.say(language, count=len(preview))
    parts = cut((pre(preview),), max(1, space - length(clipped) - 1))
    shown = text_of(parts[0]) if parts else ""
    return pre(shown), plain("\n" + texts.PREVIEW_CLIPPED.say(language, count=len(preview) - len(shown)))


def _circumstances(approval: Approval, language: Language, sentence_for: SentenceFor) -> Iterator[Span]:
    for line in card_lines(approval, language, sentence_for):
        yield plain(f"\n{line}")
    yield plain("\n" + texts.BY_TEXT.say(language, short=approval.approval_id))


def _asked(asked: Asked, language: Language, room: int) -> Spans:
    head = (plain("\n\n"), bold("❓ "))
    tail = (plain("\n" + texts.ANSWER_BY_WRITING.say(language)),) if asked.choices else ()
    space = max(1, room - length(text_of((*head, *tail))))
    parts = cut(to_spans(asked.question), space)
    return (*head, *(parts[0] if parts else ()), *tail)


def _buttons(status: TaskStatus) -> Iterator[tuple[Button, ...]]:
    language, task_id = status.language, status.record.task_id

    def button(label: str, action: Action, token: str = "", choice: int = 0) -> Button:
        return Button(label, Press(action, task_id, token, choice).pack())

    if status.approval is not None:
        token = token_of(status.approval)
        approve = button(texts.APPROVE.say(language), "approve", token)
        yield approve, button(texts.DENY.say(language), "deny", token)
        if status.approval.shape is not None:
            here = button(approval_texts.ALWAYS_TASK.say(language), "always_task", token)
            yield here, button(approval_texts.ALWAYS.say(language), "always", token)
    elif status.asked is not None:
        token = token_of_question(status.asked)
        for index, choice in enumerate(status.asked.choices[:CHOICES_SHOWN]):
            yield (button(clip(choice.strip() or "…", CHOICE_CHARACTERS), "choose", token, index),)
    halt = button(texts.STOP.say(language), "stop")
    if status.phase is Phase.PAUSED:
        yield button(texts.RESUME.say(language), "resume"), halt
    elif status.phase in (Phase.AWAITING_APPROVAL, Phase.AWAITING_USER):
        yield (halt,)
    else:
        yield button(texts.PAUSE.say(language), "pause"), halt
