"""How long each activity may take, and how it is tried again."""

from datetime import timedelta

from temporalio.common import RetryPolicy

from contracts import errors

PLAN_ATTEMPT = timedelta(seconds=120)
PLAN_IN_ALL = timedelta(minutes=15)
PLAN_HEARTBEAT = timedelta(seconds=20)
PLAN_RETRY = RetryPolicy(
    initial_interval=timedelta(seconds=1), backoff_coefficient=2.0, maximum_interval=timedelta(seconds=60)
)

JUDGE_ATTEMPT = timedelta(seconds=10)
JUDGE_RETRY = RetryPolicy(initial_interval=timedelta(milliseconds=200), maximum_interval=timedelta(seconds=10))

NOTE_OF_END = timedelta(seconds=30)
"""How long the end of a question waits for its record."""
CHANGES_IN_ONE_CALL = 3
"""So often the person is asked about one call whose circumstances change; then the planner is told instead."""

TOOL_HEARTBEAT = timedelta(seconds=10)
TOOL_WAIT_FOR_HOST = timedelta(seconds=90)
"""A host worker that restarts is back by then; after it the host counts as lost."""
TOOL_MARGIN = timedelta(seconds=60)
"""What a call gets beyond its own time-out, to stop the command and keep its output."""
TOOL_RETRY = RetryPolicy(
    initial_interval=timedelta(seconds=1), maximum_interval=timedelta(seconds=20), maximum_attempts=8
)

ACQUIRE_ATTEMPT = timedelta(hours=1)
"""A need may wait in the queue of full hosts; the next attempt joins the same need."""
ACQUIRE_HEARTBEAT = timedelta(seconds=10)
ACQUIRE_RETRY = RetryPolicy(initial_interval=timedelta(milliseconds=500), maximum_interval=timedelta(seconds=20))

LEASE_WAIT = timedelta(minutes=4)
"""After so long without any host that takes the request, the person is asked."""
LEASE_ATTEMPT = timedelta(minutes=15)
"""It may have to bring back a large snapshot; a host that dies meanwhile falls silent."""
LEASE_RETRY = RetryPolicy(
    initial_interval=timedelta(seconds=2),
    maximum_interval=timedelta(seconds=30),
    maximum_attempts=4,
    non_retryable_error_types=[errors.HOST_FULL],
)
QUEUE_RETRY = RetryPolicy(
    initial_interval=timedelta(seconds=2),
    maximum_interval=timedelta(seconds=5),
    non_retryable_error_types=[errors.SANDBOX_UNAVAILABLE],
)
"""While all hosts are full: the server goes on trying, which costs no history."""

HOST_HEARTBEAT = timedelta(seconds=15)
HOST_WAIT = timedelta(seconds=90)
"""A host worker that restarts is back by then; after it the host counts as lost."""
HOST_LOOK = timedelta(seconds=15)
HOST_QUICK = timedelta(seconds=60)
"""Freezing, thawing, giving up."""
HOST_LONG = timedelta(minutes=30)
"""Saving a large sandbox."""
HOST_RETRY = RetryPolicy(
    initial_interval=timedelta(seconds=1), maximum_interval=timedelta(seconds=10), maximum_attempts=5
)
RELEASE_IN_ALL = timedelta(minutes=3)

LATER = timedelta(seconds=30)
"""When a step that could not be done, such as the sleep of a sandbox in which a command runs, is tried again."""

SWEEP_WAIT = timedelta(minutes=3)
SWEEP_ATTEMPT = timedelta(minutes=30)
SWEEP_RETRY = RetryPolicy(maximum_attempts=2)

DELIVER_HEARTBEAT = timedelta(seconds=8)
"""The gateway beats every two seconds while it delivers or waits for the platform's rate."""

PROGRESS_ATTEMPT = timedelta(seconds=30)
PROGRESS_IN_ALL = timedelta(seconds=60)
PROGRESS_PAUSE = timedelta(seconds=1)
"""Least time between two edits of a task's message."""
PROGRESS_TICK = timedelta(seconds=20)
"""While work goes on, the message changes at least this often."""

REMINDER_EVERY = timedelta(hours=24)

FINAL_ATTEMPT = timedelta(seconds=120)
FINAL_IN_ALL = timedelta(days=7)
FINAL_RETRY = RetryPolicy(initial_interval=timedelta(seconds=1), maximum_interval=timedelta(seconds=30))

LOOK_UP_ATTEMPT = timedelta(seconds=20)
LIFT_RETRY = RetryPolicy(
    initial_interval=timedelta(milliseconds=500), backoff_coefficient=1.5, maximum_interval=timedelta(seconds=3)
)
"""The server goes on asking until the kill switch is lifted, which costs no history."""
HALTED_AGAIN = timedelta(seconds=2)
HALTED_CALM = timedelta(minutes=2)
"""After a lift of so long the next halt is a new one; the longest pause between two that belong together."""

SEEN_IDS = 256
"""How many message and decision ids are remembered to drop duplicates."""
STEPS_SHOWN = 30
WAITING_MESSAGES = 50
"""How many requests a chat may have waiting."""
SNAPSHOTS_KEPT = 100
"""How many snapshots one sandbox names; what nobody names is collected."""
TRANSITIONS_SHOWN = 50
LOST_IN_ONE_CALL = 5
"""After losing so many sandboxes under one call, the call counts as failed."""
