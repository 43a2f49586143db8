"""What a person asked for in a task, one message after another, and what has come of each so far."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from activities.playbook.progress import Outcome
from contracts.messages import Attachment
from contracts.quoting import own_words
from contracts.tools import ToolCall, ToolResult
from contracts.transcript import NoteTurn, PlannerTurn, ToolTurn, Turn, UserTurn

ASK = "ask_user"


@dataclass
class Request:
    """One message, and what happened to its labels; a label is written as `<number>:<name>` in the transcript."""

    number: int
    text: str
    attachments: tuple[Attachment, ...]
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    answers: dict[str, str | None] = field(default_factory=dict)
    """None where the question was closed without an answer."""

    def label(self, name: str) -> str:
        return f"{self.number}:{name}"


def requests_in(turns: Sequence[Turn], results: Mapping[str, ToolResult]) -> tuple[Request, ...]:
    """Read the turns once, from the oldest on."""
    reading = _Reading(results)
    for turn in turns:
        reading.take(turn)
    return tuple(reading.requests)


class _Reading:
    """What is known between two turns."""

    def __init__(self, results: Mapping[str, ToolResult]) -> None:
        self.requests: list[Request] = []
        self._results = results
        self._calls: dict[str, ToolCall] = {}
        self._open: tuple[Request, str] | None = None
        """The question that waits for words."""

    def take(self, turn: Turn) -> None:
        match turn:
            case UserTurn():
                self._hear(turn)
            case PlannerTurn():
                self._close_question()
                for call in turn.calls:
                    self._note_call(call)
            case ToolTurn():
                self._note_result(turn)
            case NoteTurn():
                self._close_question()

    def _hear(self, turn: UserTurn) -> None:
        if turn.question_id is None or self._open is None:
            self.requests.append(Request(len(self.requests) + 1, own_words(turn.text), turn.attachments))
            return
        request, name = self._open
        request.answers[name] = own_words(turn.text)
        self._open = None

    def _note_call(self, call: ToolCall) -> None:
        self._calls[call.call_id] = call
        place = self._place(call)
        if call.tool == ASK and place is not None:
            self._open = place

    def _note_result(self, turn: ToolTurn) -> None:
        call = self._calls.get(turn.call_id)
        place = self._place(call) if call is not None else None
        if place is None:
            return
        request, name = place
        before = request.outcomes.get(name)
        request.outcomes[name] = Outcome(
            ok=turn.ok,
            headline=turn.headline,
            error=turn.error,
            result=self._results.get(turn.call_id),
            attempts=1 if before is None else before.attempts + 1,
        )

    def _close_question(self) -> None:
        """What comes after a question and is no answer ends it, such as its time running out."""
        if self._open is not None:
            request, name = self._open
            request.answers[name] = None
            self._open = None

    def _place(self, call: ToolCall) -> tuple[Request, str] | None:
        number, _, name = call.label.partition(":")
        if not number.isdecimal() or not name or not 1 <= int(number) <= len(self.requests):
            return None
        return self.requests[int(number) - 1], name
