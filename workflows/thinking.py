"""Asks the planner for the next step, and the person where the planner cannot go on: no answer, or no money."""

from temporalio import workflow
from temporalio.exceptions import ActivityError, ApplicationError, is_cancelled_exception

from contracts.activities import Planning
from contracts.errors import MACHINE_FULL
from contracts.planning import AskUser, PlanOutcome, PlanRequest
from contracts.provenance import TakenIn
from contracts.task import Phase
from contracts.texts import task as texts
from contracts.usage import Ceiling, Exceeded, frees_at
from workflows import limits
from workflows.asking import Asking
from workflows.ending import TaskEnded
from workflows.failures import reason_of, type_of
from workflows.freeing import answered_before
from workflows.halting import Halting
from workflows.state import TaskState
from workflows.visibility import Visibility


class Thinking:
    """One planner call a step; what the person said since the last one goes along."""

    def __init__(self, state: TaskState, visibility: Visibility, asking: Asking, halting: Halting) -> None:
        self._state = state
        self._visibility = visibility
        self._asking = asking
        self._halting = halting

    async def plan(self) -> PlanOutcome:
        """Ask the planner. Raises: TaskEnded if its provider refuses for good, or the person gives up on it."""
        state = self._state
        self._visibility.enter(Phase.PLANNING)
        additions, state.additions = state.additions, []
        request = PlanRequest(
            task_id=state.given.record.task_id,
            step=state.step,
            language=state.given.language,
            transcript_ref=state.transcript_ref,
            additions=tuple(additions),
            usage=state.usage,
            budget_usd=state.budget_usd,
            actor=state.given.actor,
            beyond=state.beyond,
        )
        while True:
            await self._halting.passed()
            try:
                outcome = await workflow.execute_activity_method(
                    Planning.plan,
                    request,
                    activity_id=f"plan-{state.step}",
                    start_to_close_timeout=limits.PLAN_ATTEMPT,
                    schedule_to_close_timeout=limits.PLAN_IN_ALL,
                    heartbeat_timeout=limits.PLAN_HEARTBEAT,
                    retry_policy=limits.PLAN_RETRY,
                    summary=f"think, step {state.step}",
                )
                break
            except ActivityError as error:
                if is_cancelled_exception(error):
                    raise
                if self._halting.notes(error):
                    continue
                await self._planner_failed(error)
        state.transcript_ref = outcome.transcript_ref
        state.usage = state.usage.plus(outcome.usage)
        state.spoken_hosts = outcome.spoken_hosts
        state.takes_in(TakenIn(foreign=outcome.quotes, private=outcome.attaches))
        return outcome

    async def _planner_failed(self, error: ActivityError) -> None:
        language = self._state.given.language
        reason = reason_of(error)
        cause = error.cause
        if type_of(error) == MACHINE_FULL:
            question = texts.MACHINE_FULL.say(language, reason=reason)
            await self._asking.go_on(question, texts.TRY_AGAIN.say(language), reason)
            return
        if isinstance(cause, ApplicationError) and cause.non_retryable:
            sentence = texts.PLANNER_REFUSED.say(language, code=type_of(error), remedy=reason)
            raise TaskEnded("failed", sentence) from None
        question = texts.PLANNER_SILENT.say(language, reason=reason)
        await self._asking.go_on(question, texts.TRY_AGAIN.say(language), reason)

    async def ask_for_budget(self, question: AskUser, exceeded: tuple[Exceeded, ...]) -> None:
        """More only by the person's word, for this task alone, or by the time that frees what all tasks share.

        A yes to the task's own budget adds its first one once more; a yes to any other lets the task go beyond it.
        """
        state, before = self._state, self._state.budget_usd
        asking = self._asking.go_on(question.question, texts.GO_ON.say(state.given.language), question.question)
        if not await answered_before(frees_at(exceeded), asking):
            await self._asking.tell_conversation("working")
            return
        own = Ceiling(kind="money", span="task", most=before) if before is not None else None
        if any(one.ceiling != own for one in exceeded):
            state.beyond = True
        elif state.budget_usd == before:
            first = state.given.limits.budget_usd
            state.budget_usd = None if first is None or before is None else before + first
