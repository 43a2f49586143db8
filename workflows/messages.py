"""The rules by which a task accepts or refuses what is said to it. Validators use them, and so do signals."""

from datetime import datetime

from temporalio.exceptions import ApplicationError

from contracts import errors
from contracts.approvals import approval_purpose, names_sender
from contracts.messages import INLINE_TEXT_BYTES
from contracts.task import Approval, ApprovalSignal, Decision, GivenAnswer
from contracts.transcript import UserTurn
from workflows.state import TaskState

OWNERS = ("console:", "temporal")
"""Who holds the installation itself may decide for anyone: the terminal of its owner, and the Temporal UI behind it."""


def refuse(kind: str, text: str) -> ApplicationError:
    """The error by which an update is rejected."""
    return ApplicationError(text, type=kind, non_retryable=True)


def check_open(state: TaskState) -> None:
    """Raises: ApplicationError(TaskClosing)."""
    if state.closing:
        raise refuse(errors.TASK_CLOSING, f"task {state.given.record.task_id} has ended")


def check_turn(turn: UserTurn) -> None:
    """Raises: ApplicationError(TooLarge)."""
    size = len(turn.text.encode("utf-8", "replace"))
    if size > INLINE_TEXT_BYTES:
        raise refuse(errors.TOO_LARGE, f"the text has {size} bytes; more than {INLINE_TEXT_BYTES} travel as text_ref")


def may_speak(state: TaskState, by: str) -> bool:
    """The person whose task it is, and the owner of the installation."""
    return by == state.given.actor.user_id or by.startswith(OWNERS)


def check_speaker(state: TaskState, by: str) -> None:
    """Raises: ApplicationError(NotAllowed)."""
    if not may_speak(state, by):
        raise refuse(errors.NOT_ALLOWED, f"{by or 'an unknown sender'} may not steer this task")


def check_decision(state: TaskState, decision: Decision, now: datetime) -> None:
    """The one rule of every channel: a decision counts for the open question alone, exactly as it was shown, once, in
    time, and from somebody who may decide it.

    Raises: ApplicationError of type TaskClosing, StaleApproval, AlreadyDecided, NotAllowed or NeedsStepUp.
    """
    check_open(state)
    approval = state.approval
    if approval is None or approval.approval_id != decision.approval_id:
        known = decision_key(decision.approval_id) in state.seen_ids
        kind = errors.ALREADY_DECIDED if known else errors.STALE_APPROVAL
        raise refuse(kind, f"approval {decision.approval_id} is not open")
    if state.decision is not None:
        raise refuse(errors.ALREADY_DECIDED, f"approval {decision.approval_id} has been decided")
    shown = (approval.call_id, approval.args_sha256, approval.digest)
    if shown != (decision.call_id, decision.args_sha256, decision.digest):
        raise refuse(errors.STALE_APPROVAL, f"approval {decision.approval_id} is for another call or other arguments")
    if now >= approval.expires_at:
        raise refuse(errors.STALE_APPROVAL, f"approval {decision.approval_id} expired at {approval.expires_at}")
    _check_decider(state, approval, decision)
    _check_step_up(approval, decision)


def _check_decider(state: TaskState, approval: Approval, decision: Decision) -> None:
    """Others may decide where the policy says so, but not for good."""
    person = may_speak(state, decision.by) or decision.as_owner
    if not (person or any(names_sender(pattern, decision.by) for pattern in approval.approvers)):
        raise refuse(errors.NOT_ALLOWED, f"{decision.by or 'an unknown sender'} may not decide this")
    if decision.always and not (person and decision.approve and approval.shape is not None):
        raise refuse(errors.NOT_ALLOWED, f"approval {decision.approval_id} cannot be given for more than this once")


def _check_step_up(approval: Approval, decision: Decision) -> None:
    """That there is a proof; whether it is genuine is seen where the keys are, before the effect."""
    if not (approval.step_up and decision.approve):
        return
    said, purpose = decision.step_up, approval_purpose(approval.approval_id, approval.digest)
    if said is None or (said.purpose, said.by) != (purpose, decision.by):
        raise refuse(errors.NEEDS_STEP_UP, f"a yes to approval {approval.approval_id} needs a second factor")


def decision_of(state: TaskState, signal: ApprovalSignal, *, approve: bool) -> Decision:
    """A signal names the approval alone; what it stands for is read from the open approval."""
    approval = state.approval
    return Decision(
        approval_id=signal.approval_id,
        call_id=approval.call_id if approval else "",
        args_sha256=approval.args_sha256 if approval else "0" * 64,
        approve=approve,
        by=signal.by,
        note=signal.note,
        digest=approval.digest if approval else "0" * 64,
    )


def decision_key(approval_id: str) -> str:
    """How a decided approval is remembered among the applied ids."""
    return f"approval:{approval_id}"


def check_answer(state: TaskState, answer: GivenAnswer) -> None:
    """Raises: ApplicationError of type TaskClosing, StaleQuestion, TooLarge or NotAllowed."""
    check_open(state)
    check_turn(answer.turn)
    check_speaker(state, answer.by)
    if state.asked is None or state.asked.question_id != answer.question_id:
        raise refuse(errors.STALE_QUESTION, f"question {answer.question_id} is not open")
    if state.answer_turn is not None:
        raise refuse(errors.STALE_QUESTION, f"question {answer.question_id} has been answered")
