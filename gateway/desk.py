"""The desk behind the gateway: where messages, decisions and wishes are handed in, and what can be asked of tasks."""

from datetime import datetime
from typing import Protocol

from contracts.conversation import Accepted, ConversationState, Delivered, Mode
from contracts.task import Decision, GivenAnswer, Phase, Receipt, Says, TaskStatus
from contracts.undo import Undone
from contracts.values import Value


class DeskUnreachable(Exception):
    """Raised when nobody takes it now: keep it and try again."""


class NoSuchTask(Exception):
    """Raised when no task has this id, or none any more."""

    def __init__(self, task_id: str) -> None:
        super().__init__(f"no task {task_id!r}")
        self.task_id = task_id


class Refused(Exception):
    """Raised when it was understood and will never be taken; `code` is one of contracts.errors or a desk's own."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(f"{code}: {text}")
        self.code = code
        self.text = text


class TaskSummary(Value):
    """One line of a list of tasks."""

    task_id: str
    run_id: str
    open: bool
    phase: Phase | None
    user_id: str = ""
    channel: str = ""
    goal: str = ""
    started_at: datetime
    closed_at: datetime | None = None


class Retried(Value):
    """A task that goes on again from before a step."""

    task_id: str
    run_id: str
    """Of the new run."""
    step: int


class Desk(Protocol):
    """Every method raises DeskUnreachable; those with a task id NoSuchTask, those that ask for something Refused, of
    the code Halted for what would begin while the kill switch forbids it."""

    async def submit(self, delivered: Delivered) -> Accepted:
        """Hand in a message; the same message id twice is one message."""
        ...

    async def set_mode(self, channel: str, chat_id: str, mode: Mode) -> None: ...

    async def conversation(self, channel: str, chat_id: str) -> ConversationState | None:
        """What the mailbox of a chat holds; None if nobody has written there."""
        ...

    async def drop_waiting(self, channel: str, chat_id: str, by: str, sent_until: datetime) -> int:
        """Forget the requests of a chat that have not started and are not newer; gives how many."""
        ...

    async def decide(self, task_id: str, decision: Decision) -> Receipt: ...

    async def answer(self, task_id: str, answer: GivenAnswer) -> Receipt: ...

    async def say(self, task_id: str, says: Says) -> Receipt: ...

    async def pause(self, task_id: str, by: str, *, interrupt: bool = False) -> Receipt: ...

    async def resume(self, task_id: str, by: str) -> Receipt: ...

    async def stop(self, task_id: str, reason: str) -> None:
        """Cancel it; a task that has ended is no error."""
        ...

    async def status(self, task_id: str) -> TaskStatus: ...

    async def summary(self, task_id: str) -> TaskSummary:
        """What is known of a task without asking it; never out of date."""
        ...

    async def tasks(self, user_id: str | None, limit: int = 20) -> list[TaskSummary]:
        """Newest first, up to a second out of date; None lists everybody's."""
        ...

    async def retry(self, task_id: str, from_step: int | None, *, reason: str, request_id: str) -> Retried:
        """Go on again from just before a step, else before the last one. The same request id does it once."""
        ...

    async def undo(self, task_id: str, step: int | None) -> Undone:
        """Take back what a step did to files, else the last one that did something. Raises: Refused while it works."""
        ...

    async def reachable(self) -> bool:
        """Whether the desk answers now. Never raises."""
        ...
