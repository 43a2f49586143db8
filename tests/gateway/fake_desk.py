"""A desk that answers from memory, and remembers what it was asked."""

from datetime import datetime

from contracts.conversation import Accepted, ConversationState, Delivered, Mode
from contracts.task import Decision, GivenAnswer, Phase, Receipt, Says, TaskStatus
from gateway.desk import DeskUnreachable, NoSuchTask, Retried, TaskSummary
from tests.gateway.made import NOW


class FakeDesk:
    """Satisfies Desk. While `down`, nobody answers."""

    def __init__(self) -> None:
        self.down = False
        self.next = Accepted(disposition="started", task_id=None)
        self.submitted: list[Delivered] = []
        self.statuses: dict[str, TaskStatus] = {}
        self.owners: dict[str, str] = {}
        self.decisions: list[Decision] = []
        self.answers: list[GivenAnswer] = []
        self.said: list[Says] = []
        self.acts: list[tuple[str, ...]] = []
        self.refusal: Exception | None = None

    def add(self, status: TaskStatus, user_id: str) -> None:
        """A task of that user."""
        self.statuses[status.record.task_id] = status
        self.owners[status.record.task_id] = user_id

    async def submit(self, delivered: Delivered) -> Accepted:
        self._answer()
        self.submitted.append(delivered)
        return self.next

    async def set_mode(self, channel: str, chat_id: str, mode: Mode) -> None:
        self._answer()
        self.acts.append(("mode", chat_id, mode))

    async def conversation(self, channel: str, chat_id: str) -> ConversationState | None:
        self._answer()
        return None

    async def drop_waiting(self, channel: str, chat_id: str, by: str, sent_until: datetime) -> int:
        self._answer()
        self.acts.append(("drop", chat_id, by))
        return 2

    async def decide(self, task_id: str, decision: Decision) -> Receipt:
        self._answer()
        self.decisions.append(decision)
        return Receipt()

    async def answer(self, task_id: str, answer: GivenAnswer) -> Receipt:
        self._answer()
        self.answers.append(answer)
        return Receipt()

    async def say(self, task_id: str, says: Says) -> Receipt:
        self._answer()
        self.said.append(says)
        return Receipt()

    async def pause(self, task_id: str, by: str, *, interrupt: bool = False) -> Receipt:
        self._answer()
        self.acts.append(("pause", task_id, by))
        return Receipt()

    async def resume(self, task_id: str, by: str) -> Receipt:
        self._answer()
        self.acts.append(("resume", task_id, by))
        return Receipt()

    async def stop(self, task_id: str, reason: str) -> None:
        self._answer()
        self.acts.append(("stop", task_id))

    async def status(self, task_id: str) -> TaskStatus:
        self._answer()
        if task_id not in self.statuses:
            raise NoSuchTask(task_id)
        return self.statuses[task_id]

    async def summary(self, task_id: str) -> TaskSummary:
        status = await self.status(task_id)
        closed = status.phase in (Phase.COMPLETED, Phase.FAILED, Phase.CANCELLED)
        return TaskSummary(
            task_id=task_id,
            run_id="r1",
            open=not closed,
            phase=status.phase,
            user_id=self.owners[task_id],
            goal=status.goal,
            started_at=NOW,
        )

    async def tasks(self, user_id: str | None, limit: int = 20) -> list[TaskSummary]:
        self._answer()
        return [await self.summary(task) for task in self.statuses if user_id in (None, self.owners[task])][:limit]

    async def retry(self, task_id: str, from_step: int | None, *, reason: str, request_id: str) -> Retried:
        self._answer()
        self.acts.append(("retry", task_id, str(from_step), request_id))
        return Retried(task_id=task_id, run_id="r2", step=from_step or 4)

    async def reachable(self) -> bool:
        return not self.down

    def _answer(self) -> None:
        if self.down:
            raise DeskUnreachable("down")
        if self.refusal is not None:
            raise self.refusal
