"""What went wrong in an activity, in words that may be shown."""

from temporalio.exceptions import ActivityError, ApplicationError, TimeoutError, TimeoutType

from contracts.errors import SANDBOX_LOST, SANDBOX_REFUSED

SHOWN_CHARACTERS = 300


def reason_of(error: ActivityError) -> str:
    """The innermost message on one line; never a stack trace."""
    cause = error.cause
    if isinstance(cause, TimeoutError):
        last = cause.cause
        return str(last)[:SHOWN_CHARACTERS] if last is not None else "no answer in time."
    text = cause.message if isinstance(cause, ApplicationError) else str(cause or error)
    return " ".join(text.split())[:SHOWN_CHARACTERS]


def type_of(error: ActivityError) -> str | None:
    """The application error type, also where a time-out ended the retries of such an error."""
    cause = error.cause
    if isinstance(cause, TimeoutError) and isinstance(cause.cause, ApplicationError):
        cause = cause.cause
    return cause.type if isinstance(cause, ApplicationError) else None


def host_is_away(error: ActivityError) -> bool:
    """Whether nobody took the activity, or who took it fell silent."""
    return isinstance(error.cause, TimeoutError) and error.cause.type in (
        TimeoutType.SCHEDULE_TO_START,
        TimeoutType.HEARTBEAT,
    )


def is_gone(error: ActivityError) -> bool:
    """Whether the sandbox is no more, or its host."""
    return type_of(error) in (SANDBOX_LOST, SANDBOX_REFUSED) or host_is_away(error)


def has_not_begun(error: ActivityError) -> bool:
    """Whether it is certain that nothing was done: it was refused at once, or nobody has ever taken it."""
    cause = error.cause
    if isinstance(cause, TimeoutError):
        # The server names the failure of an attempt before this wait, if there was one.
        return cause.type is TimeoutType.SCHEDULE_TO_START and cause.cause is None
    return type_of(error) == SANDBOX_REFUSED
