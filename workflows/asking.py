"""Waits for the person: a yes or no to one call, or words in answer to a question. Silence is never a yes."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta

from temporalio import workflow
from temporalio.exceptions import ActivityError, is_cancelled_exception

from contracts.activities import ApprovalEvent, ApprovalNote, Noting
from contracts.conversation import TaskChanged
from contracts.ids import short_id
from contracts.task import Approval, Asked, Decision, Phase
from contracts.texts import task as texts
from contracts.transcript import UserTurn
from workflows import limits
from workflows.carding import Put, card, free_at
from workflows.ending import TaskEnded
from workflows.state import TaskState
from workflows.stopping import heed_stop, unhindered
from workflows.visibility import Visibility

STOP_WORDS = frozenset({"stop", "no", "n", "cancel", "give up", "停止", "停", "不", "否", "取消", "放弃"})


class Asking:
    """One question at a time, since a person reads one at a time."""

    def __init__(self, state: TaskState, visibility: Visibility) -> None:
        self._state = state
        self._visibility = visibility
        self._turn = asyncio.Lock()

    async def approval(self, puts: Sequence[Put]) -> tuple[Approval, Decision | None]:
        """The card that was put, and the decision; None if nobody decided in time."""
        async with self._turn:
            before = self._state.phase
            approval = self._card(puts)
            await self._note(approval, "asked")
            decision = await self._decided(approval)
            await self._note(approval, "decided" if decision else "expired", decision)
            self._visibility.enter(before)
            return approval, decision

    async def _decided(self, approval: Approval) -> Decision | None:
        """Raises: asyncio.CancelledError if the task is stopped meanwhile; the record says that it was given up."""
        state = self._state
        state.put_approval(approval)
        try:
            self._visibility.enter(Phase.AWAITING_APPROVAL)
            heed_stop(state)
            await workflow.wait_condition(
                lambda: state.decision is not None,
                timeout=approval.expires_at - workflow.now(),
                timeout_summary=f"approval {approval.approval_id} expires",
            )
        except TimeoutError:
            workflow.logger.info("approval %s expired", approval.approval_id)
        except asyncio.CancelledError:
            state.put_approval(None)
            await unhindered(self._note(approval, "given_up"))
            raise
        decision = state.decision
        state.put_approval(None)
        return decision

    async def _note(self, approval: Approval, event: ApprovalEvent, decision: Decision | None = None) -> None:
        """On record before anything follows from it; only the end of a question is not held up by a record that fails
        for long."""
        given = self._state.given
        note = ApprovalNote(
            task_id=given.record.task_id,
            user_id=given.actor.user_id,
            role=given.actor.role,
            approval=approval,
            event=event,
            decision=decision,
        )
        ends = event in ("expired", "given_up")
        try:
            # No local activity: that one would run before the decision is in history, which may yet be another one.
            await workflow.execute_activity_method(
                Noting.note_approval,
                note,
                start_to_close_timeout=limits.JUDGE_ATTEMPT,
                schedule_to_close_timeout=limits.NOTE_OF_END if ends else None,
                retry_policy=limits.JUDGE_RETRY,
                summary=f"note that {approval.approval_id} is {event}",
            )
        except ActivityError as error:
            if not ends or is_cancelled_exception(error):
                raise
            workflow.logger.warning("the end of approval %s is not on record: %s", approval.approval_id, error)

    async def words(self, question: str, choices: tuple[str, ...] = ()) -> UserTurn:
        """What the person answered.

        Raises: TaskEnded if no answer comes in the time that the task's limits give.
        """
        async with self._turn:
            before = self._state.phase
            asked = Asked(
                question_id=short_id(workflow.random()), question=question, choices=choices, asked_at=workflow.now()
            )
            self._state.put_question(asked)
            self._visibility.enter(Phase.AWAITING_USER)
            await self.tell_conversation("awaiting_user", asked.question_id)
            try:
                answer = await self._wait_for_answer(asked)
            finally:
                self._state.put_question(None)
            self._visibility.enter(before)
            await self.tell_conversation("working")
            return answer

    async def _wait_for_answer(self, asked: Asked) -> UserTurn:
        state = self._state
        hours = state.given.limits.answer_hours
        heed_stop(state)
        try:
            await workflow.wait_condition(
                lambda: state.answer_turn is not None,
                timeout=timedelta(hours=hours),
                timeout_summary=f"question {asked.question_id} lapses",
            )
        except TimeoutError:
            raise TaskEnded("failed", texts.NO_ANSWER.say(state.given.language, hours=hours)) from None
        if state.answer_turn is None:
            raise LookupError(f"question {asked.question_id} was closed while it waited")
        return state.answer_turn

    async def go_on(self, question: str, go: str, why_not: str) -> UserTurn:
        """Ask whether to go on. Raises: TaskEnded if the person says stop."""
        language = self._state.given.language
        answer = await self.words(question, (go, texts.GIVE_UP.say(language)))
        if says_stop(answer.text):
            raise TaskEnded("failed", texts.GAVE_UP.say(language, reason=why_not))
        return answer

    async def tell_conversation(
        self, state: str, question_id: str | None = None, unheard: tuple[str, ...] = ()
    ) -> None:
        """Let the mailbox know where later words belong; a mailbox that is gone is no error."""
        conversation_id = self._state.given.conversation_id
        if conversation_id is None:
            return
        changed = TaskChanged.model_validate(
            {
                "task_id": self._state.given.record.task_id,
                "state": state,
                "question_id": question_id,
                "unheard": unheard,
            }
        )
        try:
            await workflow.get_external_workflow_handle(conversation_id).signal("task_changed", changed)
        except Exception as error:
            workflow.logger.warning("the conversation %s cannot be told: %s", conversation_id, error)

    def _card(self, puts: Sequence[Put]) -> Approval:
        now, given = workflow.now(), self._state.given
        expires_at = now + timedelta(hours=given.limits.approval_hours)
        deadline = given.record.deadline
        until = min(at for at in (expires_at, deadline, free_at(puts)) if at is not None)
        return card(puts, short_id(workflow.random()), now, until, given.language)


def says_stop(text: str) -> bool:
    """Whether an answer means that the person wants no more of it."""
    return text.strip().strip(".!。！").lower() in STOP_WORDS
