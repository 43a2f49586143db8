"""What is known of a call by the way in which its activity failed."""

import pytest
from temporalio.exceptions import ActivityError, ApplicationError, RetryState, TimeoutError, TimeoutType

from contracts import errors
from workflows.failures import has_not_begun


def timed_out(kind: TimeoutType, before: BaseException | None = None) -> TimeoutError:
    """As the server tells it: the cause is how the attempt before ended."""
    error = TimeoutError("late", type=kind, last_heartbeat_details=[])
    error.__cause__ = before
    return error


@pytest.mark.parametrize(
    ("cause", "certain"),
    [
        (timed_out(TimeoutType.SCHEDULE_TO_START), True),
        (timed_out(TimeoutType.SCHEDULE_TO_START, timed_out(TimeoutType.HEARTBEAT)), False),
        (timed_out(TimeoutType.HEARTBEAT), False),
        (ApplicationError("no", type=errors.SANDBOX_REFUSED), True),
        (ApplicationError("no", type=errors.SANDBOX_LOST), False),
    ],
)
def test_only_what_nobody_took_or_what_was_refused_has_certainly_not_begun(cause: Exception, certain: bool) -> None:
    error = ActivityError(
        "failed",
        scheduled_event_id=1,
        started_event_id=2,
        identity="",
        activity_type="run_tool",
        activity_id="1",
        retry_state=RetryState.MAXIMUM_ATTEMPTS_REACHED,
    )
    error.__cause__ = cause

    assert has_not_begun(error) is certain
