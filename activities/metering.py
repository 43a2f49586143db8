"""What a call uses up: reserved before it runs, counted if it runs, and given back if it does not."""

import math
from collections.abc import Callable
from datetime import datetime

from contracts.activities import ApprovalNote, JudgeRequest
from contracts.usage import Ceiling, Exceeded, Habits, Metering, UsageKind, Use
from contracts.verdicts import Action, EffectAction, Question, SendAction, Verdict
from policy.destinations import destinations_of

_MOST = 1e12
"""Stands for an amount that is no number."""


class Meters:
    """Asks and tells the metering of this machine about calls."""

    def __init__(self, metering: Metering, now: Callable[[], datetime]) -> None:
        self._metering = metering
        self._now = now

    async def habits(self, user_id: str, now: datetime) -> Habits:
        """Raises: StorageUnusable."""
        return await self._metering.habits(user_id, now)

    async def reserve(self, use: Use, ceilings: tuple[Ceiling, ...]) -> tuple[Exceeded, ...]:
        """Take what the call needs, before it is known whether it may run. Raises: StorageUnusable."""
        return await self._metering.reserve(use, ceilings)

    async def insist(self, use: Use) -> None:
        """Take it because the person said yes. Raises: StorageUnusable."""
        await self._metering.reserve(use, (), force=True)

    async def give_back(self, use: Use) -> None:
        """The call does not run. Raises: StorageUnusable."""
        await self._metering.settle(use.key, {})

    async def let_through(self, request: JudgeRequest, destinations: tuple[str, ...]) -> None:
        """Learn from a call that needs no question. Raises: StorageUnusable."""
        await self._metering.learn(request.actor.user_id, request.task_id, self._now(), destinations)

    async def note(self, note: ApprovalNote) -> None:
        """Learn from what was said yes to, and give back what was reserved for the rest. Raises: StorageUnusable."""
        approval = note.approval
        if note.event == "asked":
            return
        if note.decision is not None and note.decision.approve:
            reached = dict.fromkeys((*approval.destinations, *(grant.host for grant in approval.egress)))
            await self._metering.learn(note.user_id, note.task_id, self._now(), tuple(reached))
            return
        for call_id in dict.fromkeys((approval.call_id, *(covered.call_id for covered in approval.covers))):
            await self._metering.settle(key_of(note.task_id, call_id), {})


def use_of(request: JudgeRequest, question: Question, verdict: Verdict) -> Use | None:
    """What the call uses up; None for one that touches nothing outside."""
    amounts = _amounts(question.actions, went_to(question, verdict))
    if not amounts:
        return None
    return Use(
        key=key_of(request.task_id, request.call.call_id),
        task_id=request.task_id,
        user_id=request.actor.user_id,
        amounts=amounts,
    )


def went_to(question: Question, verdict: Verdict) -> tuple[str, ...]:
    """Everything outside that the call reaches by this verdict."""
    return destinations_of(question.actions, () if verdict.kind == "deny" else verdict.egress)


def within_budget(request: JudgeRequest, ceilings: tuple[Ceiling, ...]) -> tuple[Ceiling, ...]:
    """The person's ceilings, and the task's own budget: money that calls spend comes out of it, too."""
    if request.budget_usd is None:
        return ceilings
    return (*ceilings, Ceiling(kind="money", span="task", most=request.budget_usd))


def key_of(task_id: str, call_id: str) -> str:
    return f"{task_id}/{call_id}"


def _amounts(actions: tuple[Action, ...], destinations: tuple[str, ...]) -> dict[UsageKind, float]:
    """One request for a call that reaches something, its messages by their recipients, and its money."""
    effects = [action for action in actions if isinstance(action, EffectAction)]
    messages = sum(1 for action in actions if isinstance(action, SendAction) and action.recipient != "self")
    messages += sum(max(1, len(action.destinations)) for action in effects if {"send", "share"} & set(action.effects))
    money = sum(_money(action.amount) for action in effects if "money" in action.effects)
    counted: dict[UsageKind, float] = {
        "requests": 1 if destinations or effects else 0,
        "messages": messages,
        "money": money,
    }
    return {kind: amount for kind, amount in counted.items() if amount}


def _money(amount: float | None) -> float:
    return abs(amount or 0.0) if math.isfinite(amount or 0.0) else _MOST
