"""Waits for the person: a yes or no to one call, or words in answer to a question. Silence is never a yes."""

import asyncio
from datetime import timedelta

from temporalio import workflow

from contracts.activities import JudgeOutcome
from contracts.conversation import TaskChanged
from contracts.ids import short_id
from contracts.task import Approval, Asked, Decision, Phase
from contracts.texts import task as texts
from contracts.tools import ToolCall
from contracts.transcript import UserTurn
from contracts.verdicts import Ask
from workflows.ending import TaskEnded
from workflows.state import TaskState
from workflows.stopping import heed_stop
from workflows.visibility import Visibility

STOP_WORDS = frozenset({"stop", "no", "n", "cancel", "give up", "停止", "停", "不", "否", "取消", "放弃"})


class Asking:
    """One question at a time, since a person reads one at a time."""

    def __init__(self, state: TaskState, visibility: Visibility) -> None:
        self._state = state
        self._visibility = visibility
        self._turn = asyncio.Lock()

    async def approval(self, call: ToolCall, judged: JudgeOutcome, verdict: Ask) -> tuple[Approval, Decision | None]:
        """The question that was put, and the decision; None if nobody decided in time."""
        async with self._turn:
            state = self._state
            before = state.phase
            approval = self._approval(call, judged, verdict)
            state.put_approval(approval)
            self._visibility.enter(Phase.AWAITING_APPROVAL)
            heed_stop(state)
            try:
                await workflow.wait_condition(
                    lambda: state.decision is not None,
                    timeout=approval.expires_at - workflow.now(),
                    timeout_summary=f"approval {approval.approval_id} expires",
                )
            except TimeoutError:
                workflow.logger.info("approval %s expired", approval.approval_id)
            finally:
                decision = state.decision
                state.put_approval(None)
            self._visibility.enter(before)
            return approval, decision

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

    def _approval(self, call: ToolCall, judged: JudgeOutcome, verdict: Ask) -> Approval:
        now = workflow.now()
        expires_at = now + timedelta(hours=self._state.given.limits.approval_hours)
        deadline = self._state.given.record.deadline
        return Approval(
            approval_id=short_id(workflow.random()),
            call_id=call.call_id,
            tool=call.tool,
            args_sha256=call.args_sha256,
            summary=call.summary,
            preview=judged.preview,
            reasons=verdict.reasons,
            effects=verdict.effects,
            risk=verdict.risk,
            egress=verdict.egress,
            asked_at=now,
            expires_at=min(at for at in (expires_at, deadline, verdict.free_at) if at is not None),
        )


def says_stop(text: str) -> bool:
    """Whether an answer means that the person wants no more of it."""
    return text.strip().strip(".!。！").lower() in STOP_WORDS
