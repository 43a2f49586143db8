"""How the end of a task looks: its answer in as few messages as it fits into, else as a file."""

from dataclasses import dataclass

from contracts.task import Phase, TaskStatus
from contracts.texts import gateway as texts
from gateway.channel import FilePage, Page
from gateway.markdown import to_spans
from gateway.rich import Spans, bold, cut, length, plain, text_of

MAX_PARTS = 3
ANSWER_NAME = "answer.md"


@dataclass(frozen=True)
class FinalPages:
    """All messages of an answer, in order."""

    pages: tuple[Page, ...]
    file: FilePage | None = None
    """The whole answer, where it was too long for messages."""


def final_pages(status: TaskStatus, answer: str, limit: int, remarks: tuple[str, ...] = ()) -> FinalPages:
    """`answer` is Markdown; `remarks` are sentences about what could not be sent."""
    spans = (*_heading(status), *_body(status, answer), *(plain(f"\n\n{remark}") for remark in remarks))
    parts = cut(spans, limit)
    if len(parts) <= MAX_PARTS:
        return FinalPages(tuple(Page(part) for part in parts))
    pointer = plain("\n\n" + texts.ANSWER_IN_FILE.say(status.language, name=ANSWER_NAME))
    beginning = cut(spans, limit - length(pointer.text))[0]
    file = FilePage(ANSWER_NAME, "text/markdown", answer.encode("utf-8", "replace"))
    return FinalPages((Page((*beginning, pointer)),), file)


def _heading(status: TaskStatus) -> Spans:
    """Only a bad end is named: a good answer speaks for itself."""
    if status.outcome == "partly_failed":
        return bold(f"⚠ {texts.PARTLY_FAILED.say(status.language)}"), plain("\n\n")
    if status.outcome == "failed" or status.phase is Phase.FAILED:
        return bold(f"❌ {texts.FAILED.say(status.language)}"), plain("\n\n")
    if status.outcome == "cancelled" or status.phase is Phase.CANCELLED:
        return bold(f"⏹ {texts.CANCELLED.say(status.language)}"), plain("\n\n")
    return ()


def _body(status: TaskStatus, answer: str) -> Spans:
    spans = to_spans(answer)
    if text_of(spans).strip():
        return spans
    return (plain(answer if answer.strip() else texts.NO_ANSWER_TEXT.say(status.language)),)
