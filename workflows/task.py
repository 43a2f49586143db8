"""One request of a person, from its first step to its answer. Handlers record what is said; one loop acts on it."""

from temporalio import workflow
from temporalio.exceptions import ApplicationError, is_cancelled_exception

from contracts import errors
from contracts.activities import Watching
from contracts.planning import AskUser, PlanOutcome, Reply, ToolCalls
from contracts.queues import CONTROL
from contracts.task import (
    ApprovalSignal,
    Decision,
    GivenAnswer,
    PauseRequest,
    Phase,
    Receipt,
    Says,
    SetBudget,
    TaskInput,
    TaskResult,
    TaskStatus,
)
from contracts.texts import task as texts
from contracts.transcript import UserTurn
from workflows import limits, messages
from workflows.asking import Asking
from workflows.calls import Calls
from workflows.ending import TaskEnded
from workflows.halting import Halting
from workflows.progress import Progress
from workflows.state import TaskState
from workflows.stopping import heed_stop, unhindered
from workflows.thinking import Thinking
from workflows.visibility import Visibility
from workflows.workplace import Workplace


@workflow.defn(name="TaskWorkflow")
class TaskWorkflow:
    """Thinks, acts and asks until the planner replies, the person stops it, or it cannot go on."""

    @workflow.init
    def __init__(self, given: TaskInput) -> None:
        info = workflow.info()
        self._state = TaskState(given, is_reset=info.run_id != info.original_execution_run_id)
        self._visibility = Visibility(self._state)
        self._progress = Progress(self._state)
        self._asking = Asking(self._state, self._visibility)
        halting = Halting(self._state, self._visibility)
        self._workplace = Workplace(self._state, self._visibility, self._asking, halting)
        self._thinking = Thinking(self._state, self._visibility, self._asking, halting)
        self._calls = Calls(self._state, self._visibility, self._asking, self._workplace, halting)

    @workflow.run
    async def run(self, given: TaskInput) -> TaskResult:
        self._progress.start()
        self._workplace.begin()
        try:
            result = await self._work()
        except TaskEnded as ended:
            result = self._result(ended.outcome, ended.sentence)
        except BaseException as error:
            if not is_cancelled_exception(error):
                raise
            reason = workflow.cancellation_reason()
            result = self._result("cancelled", reason or texts.STOPPED.say(given.language))
            await unhindered(self._close(result))
            raise
        await unhindered(self._close(result))
        if result.outcome == "failed":
            raise ApplicationError(result.answer, result, type=errors.TASK_FAILED, non_retryable=True)
        return result

    async def _work(self) -> TaskResult:
        await self._await_dependencies()
        while True:
            await self._gate()
            self._state.step += 1
            with workflow.create_event_group(f"step-{self._state.step}").scope():
                outcome = await self._thinking.plan()
                reply = await self._follow(outcome)
            if reply is not None:
                return self._result(reply.outcome, reply.text, reply)

    async def _follow(self, outcome: PlanOutcome) -> Reply | None:
        """Do what the planner decided; gives the reply that ends the task, unless the person has said more since."""
        next_step = outcome.next_step
        language = self._state.given.language
        if outcome.over_budget and isinstance(next_step, AskUser):
            await self._thinking.ask_for_budget(next_step, outcome.exceeded)
        elif isinstance(next_step, ToolCalls):
            await self._calls.run_all(next_step.calls)
        elif isinstance(next_step, AskUser):
            self._state.additions.append(await self._asking.words(next_step.question, next_step.choices))
        elif not self._state.additions:
            return next_step
        if self._state.step % self._state.given.limits.max_steps == 0:
            question = texts.TOO_MANY_STEPS.say(language, steps=self._state.step)
            await self._asking.go_on(question, texts.GO_ON.say(language), question)
        return None

    async def _gate(self) -> None:
        """Wait while paused, end at the deadline, and start the next run before history grows too long."""
        state = self._state
        heed_stop(state)
        if state.paused:
            self._visibility.enter(Phase.PAUSED)
            await workflow.wait_condition(lambda: not state.paused)
        state.interrupted = False
        if state.past(workflow.now()):
            deadline = f"{state.given.record.deadline:%Y-%m-%d %H:%M}"
            raise TaskEnded("failed", texts.DEADLINE_PASSED.say(state.given.language, deadline=deadline))
        if self._history_is_long():
            await self._progress.stop()
            await workflow.wait_condition(workflow.all_handlers_finished)
            record = state.given.record.model_copy(update={"retry_count": state.retry_count})
            workflow.continue_as_new(state.given.model_copy(update={"carry": state.carry(), "record": record}))

    def _history_is_long(self) -> bool:
        info = workflow.info()
        own = self._state.given.limits.continue_after_events
        return info.is_continue_as_new_suggested() or 0 < own <= info.get_current_history_length()

    async def _await_dependencies(self) -> None:
        for task_id in self._state.given.record.dependencies if self._state.step == 0 else ():
            pause = 2.0
            while await workflow.execute_activity_method(
                Watching.task_is_open,
                task_id,
                task_queue=CONTROL,
                start_to_close_timeout=limits.LOOK_UP_ATTEMPT,
                summary=f"has {task_id} ended?",
            ):
                await workflow.sleep(pause, summary=f"wait for task {task_id}")
                pause = min(60.0, pause * 2)
            self._state.takes_in(
                await workflow.execute_activity_method(
                    Watching.what_task_took_in,
                    task_id,
                    task_queue=CONTROL,
                    start_to_close_timeout=limits.LOOK_UP_ATTEMPT,
                    summary=f"what has {task_id} taken in?",
                )
            )

    def _result(self, outcome: str, answer: str, reply: Reply | None = None) -> TaskResult:
        state = self._state
        phase = {"failed": Phase.FAILED, "cancelled": Phase.CANCELLED}.get(outcome, Phase.COMPLETED)
        return TaskResult.model_validate(
            {
                "task_id": state.given.record.task_id,
                "phase": phase,
                "outcome": outcome,
                "answer": answer,
                "answer_ref": reply.text_ref if reply else None,
                "files": tuple(state.files),
                "usage": state.usage,
                "steps": state.step,
            }
        )

    async def _close(self, result: TaskResult) -> None:
        """Leave the sandbox, and bring the end to the person."""
        self._state.closing = True
        await self._progress.stop()
        await self._workplace.leave()
        self._state.result = result
        self._visibility.enter(result.phase)
        await self._progress.final()
        await self._asking.tell_conversation("closed", unheard=self._unheard())
        await workflow.wait_condition(workflow.all_handlers_finished)
        while late := self._unheard():
            await self._asking.tell_conversation("closed", unheard=late)

    def _unheard(self) -> tuple[str, ...]:
        """Take out the ids of messages that came too late for the planner."""
        turns, self._state.additions = self._state.additions, []
        return tuple(turn.message_id for turn in turns if isinstance(turn, UserTurn) and turn.message_id)

    def _hear(self, turn: UserTurn) -> Receipt:
        if self._state.seen(turn.message_id):
            return Receipt(duplicate=True)
        if self._state.asked is not None and self._state.answer_turn is None:
            asked = self._state.asked
            self._state.answer_turn = turn.model_copy(update={"question_id": asked.question_id})
            return Receipt(detail="answered")
        self._state.additions.append(turn)
        self._state.changed()
        return Receipt(detail="noted")

    @workflow.update
    def say(self, says: Says) -> Receipt:
        """A further message; it answers the open question, or is read before the next step."""
        return self._hear(says.turn)

    @say.validator
    def _check_say(self, says: Says) -> None:
        messages.check_open(self._state)
        messages.check_turn(says.turn)
        messages.check_speaker(self._state, says.by)

    @workflow.signal
    def tell(self, says: Says) -> None:
        """The same from the conversation, whose sender has been checked there."""
        self._hear(says.turn)

    @workflow.update
    def answer(self, answer: GivenAnswer) -> Receipt:
        """The person's words for the open question."""
        self._state.seen(answer.turn.message_id)
        self._state.answer_turn = answer.turn.model_copy(update={"question_id": answer.question_id})
        return Receipt()

    @answer.validator
    def _check_answer(self, answer: GivenAnswer) -> None:
        messages.check_answer(self._state, answer)

    @workflow.update
    def decide(self, decision: Decision) -> Receipt:
        """A yes or no to the open approval."""
        self._decide(decision)
        return Receipt()

    @decide.validator
    def _check_decide(self, decision: Decision) -> None:
        messages.check_decision(self._state, decision, workflow.now())

    @workflow.signal
    def approve(self, signal: ApprovalSignal) -> None:
        """A yes from the Temporal UI or command line."""
        self._decide_by_signal(signal, approve=True)

    @workflow.signal
    def deny(self, signal: ApprovalSignal) -> None:
        """A no from the Temporal UI or command line."""
        self._decide_by_signal(signal, approve=False)

    def _decide_by_signal(self, signal: ApprovalSignal, *, approve: bool) -> None:
        decision = messages.decision_of(self._state, signal, approve=approve)
        try:
            messages.check_decision(self._state, decision, workflow.now())
        except ApplicationError as refusal:
            workflow.logger.warning("a signal was refused: %s", refusal.message)
            return
        self._decide(decision)

    def _decide(self, decision: Decision) -> None:
        self._state.seen(messages.decision_key(decision.approval_id))
        self._state.decision = decision
        self._state.changed()

    @workflow.update
    def pause(self, request: PauseRequest) -> Receipt:
        """Stop before the next call, or in the middle of the running one."""
        duplicate = self._state.paused
        self._state.paused = True
        self._state.interrupted = request.interrupt
        self._state.changed()
        return Receipt(duplicate=duplicate)

    @pause.validator
    def _check_pause(self, request: PauseRequest) -> None:
        messages.check_open(self._state)
        messages.check_speaker(self._state, request.by)

    @workflow.update
    def resume(self, request: PauseRequest) -> Receipt:
        """Go on after a pause."""
        duplicate = not self._state.paused
        self._state.paused = False
        self._state.changed()
        return Receipt(duplicate=duplicate)

    @resume.validator
    def _check_resume(self, request: PauseRequest) -> None:
        messages.check_open(self._state)
        messages.check_speaker(self._state, request.by)

    @workflow.update
    def set_budget(self, budget: SetBudget) -> Receipt:
        """What the task may cost in all from now on."""
        self._state.budget_usd = budget.budget_usd
        self._state.changed()
        return Receipt()

    @set_budget.validator
    def _check_set_budget(self, budget: SetBudget) -> None:
        messages.check_open(self._state)
        messages.check_speaker(self._state, budget.by)
        if budget.budget_usd is not None and budget.budget_usd < self._state.usage.cost_usd:
            spent = self._state.usage.cost_usd
            raise messages.refuse(
                errors.BAD_BUDGET, f"{budget.budget_usd} USD is less than the {spent:.4f} already spent"
            )

    @workflow.signal
    def retried(self, by: str) -> None:
        """Somebody reset this task to try again."""
        self._state.retry_count += 1

    @workflow.query
    def status(self) -> TaskStatus:
        """What anyone who may look at the task sees of it."""
        return self._state.status()
