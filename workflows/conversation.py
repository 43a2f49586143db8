"""The mailbox of one chat: it orders, drops duplicates, starts one task at a time and passes later words on to it."""

import asyncio

from temporalio import workflow
from temporalio.exceptions import ApplicationError, WorkflowAlreadyStartedError

from contracts.activities import Watching
from contracts.conversation import (
    Accepted,
    ConversationInput,
    ConversationState,
    Delivered,
    DropWaiting,
    SetMode,
    TaskChanged,
)
from contracts.ids import ulid
from contracts.queues import CONTROL, task_workflow_id
from contracts.task import Says, TaskResult
from workflows import limits
from workflows.requests import priority, search_attributes, task_input, user_id, user_turn


@workflow.defn(name="ConversationWorkflow")
class ConversationWorkflow:
    """Handlers decide what becomes of a message and give a receipt; one loop starts tasks and sends signals."""

    @workflow.init
    def __init__(self, given: ConversationInput) -> None:
        self._id = given.conversation_id
        state = given.state
        self._mode = state.mode
        self._current = state.current_task_id
        self._question_id = state.question_id
        self._waiting = list(state.waiting)
        self._passed_on = list(state.passed_on)
        self._seen = dict(state.seen)
        self._to_start: list[tuple[str, Delivered]] = []
        self._to_tell: list[tuple[str, Delivered]] = []
        self._watched: set[str] = set()
        self._watchers: set[asyncio.Task[None]] = set()

    @workflow.run
    async def run(self, given: ConversationInput) -> None:
        await self._adopt_or_forget()
        self._start_next()
        while self._has_work() or not self._history_is_long():
            await workflow.wait_condition(lambda: self._has_work() or self._history_is_long())
            await self._start_tasks()
            await self._tell_tasks()
        for watcher in self._watchers:
            watcher.cancel()
        workflow.continue_as_new(ConversationInput(conversation_id=self._id, state=self._state()))

    @workflow.update
    def receive(self, delivered: Delivered) -> Accepted:
        """A message of the person; its receipt says what became of it. The same message id is handled once."""
        message_id = delivered.message.message_id
        if message_id in self._seen:
            return Accepted(disposition="duplicate", task_id=self._seen[message_id] or None)
        if self._current is None and not self._waiting:
            return self._start(delivered)
        if self._question_id is not None or self._mode == "steer":
            return self._pass_on(delivered)
        self._remember(message_id, "")
        self._waiting.append(delivered)
        return Accepted(disposition="queued", ahead=len(self._waiting))

    @receive.validator
    def _check_receive(self, delivered: Delivered) -> None:
        if len(self._waiting) >= limits.WAITING_MESSAGES and delivered.message.message_id not in self._seen:
            raise ApplicationError(
                f"{len(self._waiting)} requests are waiting already", type="QueueFull", non_retryable=True
            )

    @workflow.update
    def set_mode(self, request: SetMode) -> Accepted:
        """Whether later messages wait for the end of the running task or join it."""
        self._mode = request.mode
        return Accepted(disposition="answered", task_id=self._current)

    @workflow.update
    def drop_waiting(self, request: DropWaiting) -> Accepted:
        """Forget the requests that have not started, as a stop of everything wants."""
        until = request.sent_until
        kept = [each for each in self._waiting if until is not None and each.message.timestamp > until]
        dropped, self._waiting = len(self._waiting) - len(kept), kept
        workflow.logger.info("%s requests were dropped by %s", dropped, request.by)
        return Accepted(disposition="answered", task_id=self._current, ahead=dropped)

    @workflow.signal
    def task_changed(self, changed: TaskChanged) -> None:
        """A task waits for words, goes on, or has ended."""
        if self._current is None and changed.state == "awaiting_user":
            self._current = changed.task_id
        if changed.state == "closed":
            self._take_back(changed.unheard)
            self._closed(changed.task_id)
        elif changed.task_id == self._current:
            self._question_id = changed.question_id

    @workflow.query
    def state(self) -> ConversationState:
        """What the mailbox holds."""
        return self._state()

    def _start(self, delivered: Delivered) -> Accepted:
        task_id = ulid(workflow.now(), workflow.random())
        self._current = task_id
        self._question_id = None
        self._to_start.append((task_id, delivered))
        self._remember(delivered.message.message_id, task_id)
        return Accepted(disposition="started", task_id=task_id)

    def _pass_on(self, delivered: Delivered) -> Accepted:
        task_id = self._current
        assert task_id is not None  # noqa: S101  the caller has looked
        self._to_tell.append((task_id, delivered))
        self._passed_on = [*self._passed_on, delivered][-limits.WAITING_MESSAGES :]
        self._remember(delivered.message.message_id, task_id)
        disposition = "answered" if self._question_id is not None else "steered"
        self._question_id = None
        return Accepted.model_validate({"disposition": disposition, "task_id": task_id})

    def _closed(self, task_id: str) -> None:
        """The running task has ended: the next request may start."""
        if self._current == task_id:
            self._current = None
            self._question_id = None
        self._start_next()

    def _start_next(self) -> None:
        if self._current is None and self._waiting:
            self._start(self._waiting.pop(0))

    def _take_back(self, unheard: tuple[str, ...]) -> None:
        """Put what a task did not hear before all that has waited."""
        again = [each for each in self._passed_on if each.message.message_id in unheard]
        self._passed_on = [each for each in self._passed_on if each not in again]
        self._waiting = [*again, *self._waiting]

    def _remember(self, message_id: str, task_id: str) -> None:
        self._seen[message_id] = task_id
        while len(self._seen) > limits.SEEN_IDS:
            del self._seen[next(iter(self._seen))]

    def _has_work(self) -> bool:
        return bool(self._to_start or self._to_tell)

    async def _start_tasks(self) -> None:
        while self._to_start:
            task_id, delivered = self._to_start.pop(0)
            given = task_input(task_id, delivered, created_at=workflow.now(), conversation_id=self._id)
            try:
                handle = await workflow.start_child_workflow(
                    "TaskWorkflow",
                    given,
                    id=task_workflow_id(task_id),
                    result_type=TaskResult,
                    parent_close_policy=workflow.ParentClosePolicy.ABANDON,
                    cancellation_type=workflow.ChildWorkflowCancellationType.ABANDON,
                    static_summary=given.goal,
                    search_attributes=search_attributes(given),
                    priority=priority(given),
                )
            except WorkflowAlreadyStartedError:
                continue
            self._watched.add(task_id)
            watcher = asyncio.create_task(self._watch(task_id, handle))
            self._watchers.add(watcher)
            watcher.add_done_callback(self._watchers.discard)

    async def _watch(self, task_id: str, handle: workflow.ChildWorkflowHandle[object, TaskResult]) -> None:
        """Notice the end also of a task that was terminated and can tell nobody."""
        try:
            await handle
        except Exception as error:
            workflow.logger.info("task %s ended: %s", task_id, error)
        self._watched.discard(task_id)
        self._closed(task_id)

    async def _tell_tasks(self) -> None:
        while self._to_tell:
            task_id, delivered = self._to_tell.pop(0)
            handle = workflow.get_external_workflow_handle(task_workflow_id(task_id))
            try:
                await handle.signal("tell", Says(turn=user_turn(delivered), by=user_id(delivered)))
            except ApplicationError as error:
                workflow.logger.info("task %s did not hear a message: %s", task_id, error)
                self._take_back((delivered.message.message_id,))
                self._closed(task_id)

    async def _adopt_or_forget(self) -> None:
        """After a continue-as-new the former run's task is nobody's child: look whether it still runs."""
        task_id = self._current
        if task_id is None or self._to_start:
            return
        is_open = await workflow.execute_activity_method(
            Watching.task_is_open,
            task_id,
            task_queue=CONTROL,
            start_to_close_timeout=limits.LOOK_UP_ATTEMPT,
            summary=f"does {task_id} still run?",
        )
        if not is_open:
            self._closed(task_id)

    def _history_is_long(self) -> bool:
        return workflow.info().is_continue_as_new_suggested()

    def _state(self) -> ConversationState:
        return ConversationState(
            mode=self._mode,
            current_task_id=self._current,
            question_id=self._question_id,
            waiting=tuple(self._waiting),
            passed_on=tuple(self._passed_on),
            seen=tuple(self._seen.items()),
        )
