"""Runs the calls of one step: each is judged, approved where the verdict asks, and then run where the sandbox is."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from typing import Literal

from temporalio import workflow
from temporalio.exceptions import ActivityError, is_cancelled_exception

from contracts.activities import Acting, Earlier, JudgeOutcome, JudgeRequest, Judging, RunOutcome, RunRequest
from contracts.language import Language
from contracts.messages import HostGrant
from contracts.provenance import Provenance, TakenIn
from contracts.queues import CONTROL
from contracts.sandbox import Lease
from contracts.task import Phase, StepView
from contracts.texts import approvals as approval_texts
from contracts.texts import task as texts
from contracts.texts.policy import REASONS
from contracts.tools import HEADLINE_CHARACTERS, ToolCall
from contracts.transcript import NoteTurn, ToolTurn
from contracts.verdicts import Allow, Ask, Deny, Reason
from workflows import limits
from workflows.approving import Approving, Cleared, Leave
from workflows.asking import Asking
from workflows.carding import cards
from workflows.failures import has_not_begun, is_gone, reason_of
from workflows.halting import Halting, has_begun
from workflows.state import TaskState
from workflows.stopping import heed_stop
from workflows.together import together
from workflows.visibility import Visibility
from workflows.workplace import Workplace

AT_ONCE = 20
"""The most calls of one step that run side by side."""

StepMark = Literal["running", "done", "failed", "denied", "waiting"]


class Calls:
    """The calls of a step, side by side as far as their order allows."""

    def __init__(
        self, state: TaskState, visibility: Visibility, asking: Asking, workplace: Workplace, halting: Halting
    ) -> None:
        self._state = state
        self._visibility = visibility
        self._asking = asking
        self._workplace = workplace
        self._approving = Approving(state, asking, workplace)
        self._halting = halting
        self._real_paths: dict[str, dict[str, str]] = {}
        """By call: where its links lead, so that the next question is about the real target."""

    async def run_all(self, calls: tuple[ToolCall, ...]) -> None:
        """Run them and add their turns to what the planner reads next, in the order in which it asked."""
        self._visibility.enter(Phase.ACTING)
        places = asyncio.Semaphore(AT_ONCE)
        turns: dict[str, ToolTurn] = {}
        cleared = await self._cleared([call for call in calls if not _needed(call, calls)])

        async def in_order(call: ToolCall) -> None:
            needed = _needed(call, calls)
            await workflow.wait_condition(lambda: all(other in turns for other in needed))
            if all(turns[other].ok for other in needed):
                async with places:
                    turns[call.call_id] = await self._run(call, cleared.get(call.call_id))
            else:
                turns[call.call_id] = self._closed(call, "denied", "skipped", "skipped: an earlier call failed")

        try:
            await together([asyncio.create_task(in_order(call)) for call in calls])
        except GeneratorExit:
            raise  # the worker lets go of the task, and nothing can be awaited any more
        except BaseException:
            await self._approving.withdraw()
            raise
        await self._approving.withdraw()
        self._state.additions.extend(turns[call.call_id] for call in calls)
        await self._break_loops(calls, turns)

    async def _cleared(self, calls: Sequence[ToolCall]) -> dict[str, Cleared]:
        """Judge what can run at once, and begin to ask about all of it together."""
        heed_stop(self._state)
        hosts = self._state.approved_hosts
        outcomes = await asyncio.gather(*map(self._judge, calls))
        found = {call.call_id: Cleared(judged) for call, judged in zip(calls, outcomes, strict=True)}
        puts = []
        for call, judged in zip(calls, outcomes, strict=True):
            if isinstance(judged.verdict, Ask) and not self._approving.given_up(judged.verdict):
                puts.append(await self._approving.put(call, judged, judged.verdict, hosts))
        for group in cards(puts):
            answer = self._approving.begin(group)
            found.update({put.call.call_id: Cleared(put.judged, put, answer) for put in group})
        return found

    async def _run(self, call: ToolCall, cleared: Cleared | None) -> ToolTurn:
        """Run a call as it was cleared; if its circumstances have changed by then, it is judged and asked anew."""
        changes = 0
        while True:
            heed_stop(self._state)
            self._show(call, "running")
            cleared = cleared or (await self._cleared([call]))[call.call_id]
            turn = await self._run_cleared(call, cleared)
            changes += turn is not None
            if turn is not None and (turn.error != "changed" or changes == limits.CHANGES_IN_ONE_CALL):
                return turn
            cleared = None

    async def _run_cleared(self, call: ToolCall, cleared: Cleared) -> ToolTurn | None:
        """Gives None where nobody needs to be asked any more, since time has freed what the call uses up."""
        judged = cleared.judged
        verdict = judged.verdict
        self._state.risk_score = max(self._state.risk_score, verdict.risk)
        if isinstance(verdict, Deny):
            return self._refused(call, judged)
        if isinstance(verdict, Allow):
            return await self._act(call, judged, Leave())
        if cleared.put is None or cleared.answer is None:
            aim = self._approving.given_up(verdict)
            denied = approval_texts.DENIED_TWICE.say(self._state.given.language, aim=aim)
            return self._closed(call, "denied", "denied", denied)
        self._show(call, "waiting")
        approval, decision = await cleared.answer
        if decision is None and verdict.free_at is not None and verdict.free_at <= approval.expires_at:
            return None
        if decision is None:
            return self._closed(call, "denied", "denied", f"nobody approved it by {approval.expires_at:%Y-%m-%d %H:%M}")
        if not decision.approve:
            return self._closed(call, "denied", "denied", f"the person said no. {decision.note}".strip())
        self._show(call, "running")
        return await self._act(call, judged, Leave(cleared.put.hosts, approval, decision.step_up))

    async def _judge(self, call: ToolCall) -> JudgeOutcome:
        return await workflow.execute_local_activity_method(
            Judging.judge,
            self._question(call),
            start_to_close_timeout=limits.JUDGE_ATTEMPT,
            retry_policy=limits.JUDGE_RETRY,
            summary=f"judge {call.summary}"[:HEADLINE_CHARACTERS],
        )

    def _question(self, call: ToolCall, approved_hosts: tuple[HostGrant, ...] | None = None) -> JudgeRequest:
        state = self._state
        taken = state.taken_in()
        return JudgeRequest(
            task_id=state.given.record.task_id,
            actor=state.given.actor,
            call=call,
            spoken_hosts=state.spoken_hosts,
            approved_hosts=state.approved_hosts if approved_hosts is None else approved_hosts,
            tainted=taken.foreign,
            private=taken.private,
            transcript_ref=state.transcript_ref,
            task_risk=state.risk_score,
            budget_usd=state.budget_usd,
            goal=state.given.goal,
            real_paths=self._real_paths.get(call.call_id, {}),
        )

    async def _act(self, call: ToolCall, judged: JudgeOutcome, leave: Leave) -> ToolTurn:
        """Run the call; one that may be repeated, or has not begun, runs again if its sandbox is lost underneath it."""
        earlier: Earlier | None = None
        lost = 0
        while lost < limits.LOST_IN_ONE_CALL:
            lease = await self._place(judged)
            at = workflow.now()
            try:
                return await self._attempt(call, judged, leave, lease, earlier)
            except ActivityError as error:
                if self._halting.notes(error):
                    if lease is not None and has_begun(error):
                        earlier = Earlier(lease=lease, at=at)
                    continue
                lost += 1
                if self._state.interrupted and is_cancelled_exception(error):
                    return self._closed(call, "failed", "interrupted", "interrupted by a pause; it may have begun")
                if lease is None or not is_gone(error):
                    return self._closed(call, "failed", "failed", reason_of(error))
                self._workplace.lost(lease)
                if not has_not_begun(error):
                    earlier = Earlier(lease=lease, at=at)
                    if not judged.repeatable:
                        break
            finally:
                if lease is not None:
                    self._workplace.done()
        return self._closed(call, "failed", "sandbox_lost", "the sandbox was lost while this ran")

    async def _place(self, judged: JudgeOutcome) -> Lease | None:
        """Where the call runs. While the task is paused it has no place, so that its sandbox can rest."""
        while True:
            await self._halting.passed()
            await self._not_paused()
            if not judged.needs_sandbox:
                return None
            lease = await self._workplace.lease(judged.demands)
            if not self._state.paused:
                return lease
            self._workplace.done()

    async def _attempt(
        self,
        call: ToolCall,
        judged: JudgeOutcome,
        leave: Leave,
        lease: Lease | None,
        earlier: Earlier | None,
    ) -> ToolTurn:
        state = self._state
        heed_stop(state)
        handle = workflow.start_activity_method(
            Acting.run_tool,
            RunRequest(
                judged=self._question(call, leave.hosts),
                lease=lease,
                approval=leave.approval,
                language=state.given.language,
                earlier=earlier,
                step_up=leave.step_up,
            ),
            activity_id=f"tool-{call.call_id}" if lease is None else f"tool-{call.call_id}-e{lease.epoch}",
            task_queue=lease.task_queue if lease else CONTROL,
            start_to_close_timeout=timedelta(seconds=judged.timeout_seconds) + limits.TOOL_MARGIN,
            schedule_to_start_timeout=limits.TOOL_WAIT_FOR_HOST if lease else None,
            heartbeat_timeout=limits.TOOL_HEARTBEAT,
            retry_policy=limits.TOOL_RETRY,
            cancellation_type=workflow.ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
            summary=call.summary[:HEADLINE_CHARACTERS],
        )
        try:
            await workflow.wait_condition(lambda: handle.done() or state.interrupted)
        finally:
            if not handle.done():
                handle.cancel()
                await workflow.wait_condition(handle.done)
        return self._finished(call, await handle)

    async def _not_paused(self) -> None:
        """Hold the next call back while the task is paused."""
        state = self._state
        if not state.paused:
            return
        self._visibility.enter(Phase.PAUSED)
        await workflow.wait_condition(lambda: not state.paused)
        state.interrupted = False
        self._visibility.enter(Phase.ACTING if state.approval is None else Phase.AWAITING_APPROVAL)

    def _finished(self, call: ToolCall, outcome: RunOutcome) -> ToolTurn:
        state = self._state
        state.takes_in(taken_in(outcome.provenance))
        state.files.extend(outcome.send)
        if outcome.real_paths is not None:
            self._real_paths[call.call_id] = outcome.real_paths
        self._show(call, "done" if outcome.turn.ok else "denied" if outcome.turn.error == "denied" else "failed")
        return outcome.turn

    def _refused(self, call: ToolCall, judged: JudgeOutcome) -> ToolTurn:
        language = self._state.given.language
        why = " ".join(sentence_of(reason, language) for reason in judged.verdict.reasons)
        error = "denied" if judged.known else judged.verdict.reasons[0].rule
        return self._closed(call, "denied", error, judged.problem or texts.NOT_PERMITTED.say(language, why=why))

    def _closed(self, call: ToolCall, mark: StepMark, error: str, headline: str) -> ToolTurn:
        """The turn of a call that gave no result of its own."""
        self._show(call, mark)
        return ToolTurn(
            call_id=call.call_id, tool=call.tool, ok=False, headline=headline[:HEADLINE_CHARACTERS], error=error
        )

    def _show(self, call: ToolCall, mark: StepMark) -> None:
        self._state.show_step(call.call_id, StepView(step=self._state.step, summary=call.summary, state=mark))
        self._visibility.refresh()

    async def _break_loops(self, calls: tuple[ToolCall, ...], turns: dict[str, ToolTurn]) -> None:
        """Ask the person once the same call has failed in the same way too often."""
        for call in calls:
            turn = turns[call.call_id]
            if turn.ok or turn.error == "skipped":
                continue
            count = self._state.count_failure(call.args_sha256, f"{turn.error}: {turn.headline}")
            if count >= self._state.given.limits.same_failure:
                await self._ask_for_another_way(call, turn, count)

    async def _ask_for_another_way(self, call: ToolCall, turn: ToolTurn, count: int) -> None:
        language = self._state.given.language
        question = texts.SAME_FAILURE.say(language, summary=call.summary, count=count, error=turn.headline)
        answer = await self._asking.go_on(question, texts.TRY_AGAIN.say(language), turn.headline)
        self._state.forget_failures()
        self._state.additions.append(NoteTurn(code="same_failure", text=question))
        self._state.additions.append(answer)


def _needed(call: ToolCall, calls: Sequence[ToolCall]) -> list[str]:
    """The calls of the same step that come before it."""
    return [other for other in call.after if any(other == each.call_id for each in calls)]


def taken_in(provenance: Provenance) -> TakenIn:
    """What a task takes in with a value of this provenance."""
    return TakenIn(foreign=not provenance.trusted, private=provenance.confidentiality != "public")


def sentence_of(reason: Reason, language: Language) -> str:
    """Why a rule fell, as a person reads it; a rule without a sentence is named."""
    known = REASONS.get(reason.rule)
    return known.say(language, detail=reason.detail) if known else f"{reason.rule} {reason.detail}".strip()
