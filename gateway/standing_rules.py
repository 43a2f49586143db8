"""What people have allowed for good, as they see it and take it back."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime

from audit.standing import Standing
from contracts.approvals import StandingRule
from contracts.audit import Event, NoRecord, Recorder
from contracts.language import Language
from contracts.texts import approvals as texts

Open = Callable[[], AbstractAsyncContextManager[Standing]]


class StandingDesk:
    """Opens the store for each use: nothing of it is kept, so that what is shown is what is in force."""

    def __init__(self, opened: Open, recorder: Recorder | None = None) -> None:
        self._opened = opened
        self._recorder = recorder or NoRecord()

    async def rules(self, user_id: str | None) -> tuple[StandingRule, ...]:
        """Those in force for a person, or with None for everybody. Raises: StorageUnusable."""
        async with self._opened() as standing:
            return await standing.all(user_id, datetime.now(UTC))

    async def revoke(self, rule_id: str, user_id: str | None, by: str) -> bool:
        """False if there is no such rule (of this person). Raises: StorageUnusable."""
        async with self._opened() as standing:
            revoked = await standing.revoke(rule_id, user_id, by, datetime.now(UTC))
        if revoked:
            await self._recorder.record(Event(kind="standing.revoked", actor=by, data={"rule_id": rule_id}))
        return revoked


def rule_line(rule: StandingRule, language: Language) -> str:
    """One rule on one line."""
    at, scope = f"{rule.at:%Y-%m-%d}", scope_of(rule, language)
    return texts.RULE.say(language, rule_id=rule.rule_id, at=at, scope=scope, shape=rule.shape.text())


def scope_of(rule: StandingRule, language: Language) -> str:
    """Where it holds, as a person reads it."""
    if rule.task_id is None:
        return texts.SCOPE_PERSON.say(language, user_id=rule.user_id)
    return texts.SCOPE_TASK.say(language, task_id=rule.task_id)
