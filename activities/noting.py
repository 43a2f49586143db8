"""The activity `note_approval`: puts what became of a question on record, and keeps what was allowed for good."""

import hashlib
from collections.abc import Callable
from datetime import datetime

from temporalio import activity

from activities.metering import Meters
from contracts import activities
from contracts.activities import ApprovalNote
from contracts.approvals import StandingRule, StandingRules
from contracts.audit import Event, EventKind, Recorder
from contracts.usage import Unmetered
from contracts.values import JsonObject

_KINDS: dict[str, EventKind] = {
    "asked": "approval.asked",
    "decided": "approval.decided",
    "expired": "approval.expired",
    "given_up": "approval.expired",
}


class Noting(activities.Noting):
    """Nothing follows from a decision before it is on record, and nothing is on record before it is in history."""

    def __init__(
        self,
        recorder: Recorder,
        standing: StandingRules,
        now: Callable[[], datetime],
        meters: Meters | None = None,
    ) -> None:
        self._recorder = recorder
        self._standing = standing
        self._now = now
        self._meters = meters or Meters(Unmetered(), now)

    @activity.defn(name="note_approval")
    async def note_approval(self, note: ApprovalNote) -> None:
        """Raises: StorageUnusable."""
        await self._recorder.record(_event(note))
        await self._meters.note(note)
        rule = standing_rule(note, self._now())
        if rule is not None:
            # First on record, then in force.
            await self._recorder.record(_added(note, rule))
            await self._standing.add(rule)


def standing_rule(note: ApprovalNote, now: datetime) -> StandingRule | None:
    """What the decision allows for good. A retry makes the same rule."""
    decision, approval = note.decision, note.approval
    if note.event != "decided" or decision is None or not decision.approve or not decision.always:
        return None
    if approval.shape is None:
        return None
    of = f"{note.task_id}/{approval.approval_id}"
    return StandingRule(
        rule_id=hashlib.sha256(of.encode()).hexdigest()[:8],
        user_id=note.user_id,
        shape=approval.shape,
        by=decision.by,
        at=now,
        task_id=note.task_id if decision.always == "task" else None,
        policy_version=approval.policy_version,
        role=note.role,
    )


def _event(note: ApprovalNote) -> Event:
    approval, decision = note.approval, note.decision
    data: JsonObject = {
        "approval_id": approval.approval_id,
        "tool": approval.tool,
        "calls": [each.call_id for each in approval.covers],
        "effects": list(approval.effects),
        "risk": approval.risk,
        "risk_parts": {part.name: part.points for part in approval.risk_parts},
        "rules": [reason.rule for reason in approval.reasons],
        "step_up": approval.step_up,
        "event": note.event,
    }
    words: JsonObject = {
        "summary": approval.summary,
        "preview": approval.preview,
        "destinations": list(approval.destinations),
    }
    if decision is not None:
        data |= {"approve": decision.approve, "always": decision.always, "confirmed": decision.step_up is not None}
        words |= {"note": decision.note}
    return _about(note, _KINDS[note.event], data, words)


def _added(note: ApprovalNote, rule: StandingRule) -> Event:
    scope = "person" if rule.task_id is None else "task"
    return _about(note, "standing.added", {"rule_id": rule.rule_id, "scope": scope}, {"shape": rule.shape.text()})


def _about(note: ApprovalNote, kind: EventKind, data: JsonObject, words: JsonObject) -> Event:
    return Event(
        kind=kind,
        actor=note.decision.by if note.decision else note.user_id,
        task_id=note.task_id,
        call_id=note.approval.call_id,
        digest=note.approval.digest,
        policy_version=note.approval.policy_version,
        data=data,
        words=words,
    )
