"""What people and planners say in tests of workflows."""

from collections.abc import Mapping
from datetime import UTC, datetime

import pytest
from temporalio.client import WorkflowUpdateFailedError
from temporalio.exceptions import ApplicationError

from contracts.planning import NextStep
from contracts.task import Approval, Decision
from contracts.transcript import UserTurn
from contracts.verdicts import Ask, Reason, Verdict
from tests.workflows.stage import USER, Script


def says(text: str, message_id: str = "m1") -> UserTurn:
    return UserTurn(text=text, at=datetime.now(UTC), message_id=message_id)


def scripted(*steps: NextStep) -> Script:
    """A planner that gives these steps in turn."""
    return Script(plan_step=lambda request: steps[request.step - 1])


def decision(
    approval: Approval, *, approve: bool = True, note: str = "", changes: Mapping[str, str] | None = None
) -> Decision:
    given = Decision(
        approval_id=approval.approval_id,
        call_id=approval.call_id,
        args_sha256=approval.args_sha256,
        approve=approve,
        by=USER,
        note=note,
        digest=approval.digest,
    )
    return given.model_copy(update=changes)


def asks(_: object) -> Verdict:
    return Ask(reasons=(Reason(rule="deletes", detail="x"),), risk=60)


async def refusal(work: object) -> str | None:
    """The type by which an update was refused."""
    with pytest.raises(WorkflowUpdateFailedError) as caught:
        await work  # type: ignore[misc]  # any update coroutine
    cause = caught.value.cause
    assert isinstance(cause, ApplicationError)
    return cause.type
