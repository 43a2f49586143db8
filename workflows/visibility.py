"""What the Temporal UI tells of a task: search attributes to find it by, and a page of current details."""

from datetime import timedelta
from typing import Any

from temporalio import workflow
from temporalio.common import SearchAttributeUpdate

from contracts import search
from contracts.task import Phase, TaskStatus
from workflows.state import TaskState

QUICK = timedelta(seconds=2)
WORKING_PHASES = frozenset({Phase.PLANNING, Phase.ACTING})
WAITING_PHASES = frozenset({Phase.AWAITING_APPROVAL, Phase.AWAITING_USER})

MARKS = {"running": "▶", "done": "✓", "failed": "✗", "denied": "⊘", "waiting": "…"}


class Visibility:
    """Publishes the phase as search attributes and the page of details.

    Each publication is an event of history and a write to the server's index, and a quick step changes between planning
    and acting many times a second: these two are published at most every QUICK. All other phases are, always.
    """

    def __init__(self, state: TaskState) -> None:
        self._state = state
        self._published_at = self._refreshed_at = workflow.now() - QUICK
        self._published = Phase.QUEUED
        self.refresh()

    def enter(self, phase: Phase) -> None:
        """Go to a phase and let the UI know."""
        if not self._state.enter(phase) or phase is self._published:
            return
        now = workflow.now()
        if {phase, self._published} <= WORKING_PHASES and now - self._published_at < QUICK:
            return
        self._published, self._published_at = phase, now
        workflow.upsert_search_attributes(self._updates())
        self.refresh()

    def refresh(self) -> None:
        """Renew the page of details, which is served by query and costs no history."""
        now = workflow.now()
        if self._state.phase in WORKING_PHASES and now - self._refreshed_at < QUICK:
            return
        self._refreshed_at = now
        workflow.set_current_details(details(self._state.status()))

    def _updates(self) -> list[SearchAttributeUpdate[Any]]:
        state = self._state
        updates: list[SearchAttributeUpdate[Any]] = [
            search.TASK_PHASE.value_set(state.phase.value),
            search.NEEDS_HUMAN.value_set(state.phase in WAITING_PHASES),
            search.STEP.value_set(state.step),
            search.RISK_SCORE.value_set(state.risk_score),
            search.COST_USD.value_set(round(state.usage.cost_usd, 6)),
        ]
        if state.lease is not None:
            updates.append(search.HOST_ID.value_set(state.lease.host_id))
        return updates


def details(status: TaskStatus) -> str:
    """The page in Temporal's Markdown: goal, phase, what it waits for, the last steps."""
    lines = [f"**{status.goal}**", "", f"Phase: `{status.phase}`, step {status.step}"]
    if status.approval is not None:
        approval = status.approval
        lines += ["", f"Waits for approval `{approval.approval_id}`: {approval.summary}", "", "```"]
        signals = "`deny` (a yes needs a second factor)" if approval.step_up else "`approve` or `deny`"
        lines += [approval.preview, "```", f"Signal {signals} with that id, until {approval.expires_at}."]
    if status.asked is not None:
        lines += ["", f"Waits for an answer: {status.asked.question}"]
    lines += ["", *(f"- {MARKS[line.state]} {line.step}. {line.summary}" for line in status.steps)]
    return "\n".join(lines)
