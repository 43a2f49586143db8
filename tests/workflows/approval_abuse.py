"""Generates approvals as tasks put them, and every way to abuse one that a seeded chance can think of."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from temporalio.exceptions import ApplicationError

from activities.granting import Granted, grant
from contracts.activities import JudgeOutcome
from contracts.approvals import Bound, StepUp, approval_purpose
from contracts.messages import Address, HostGrant
from contracts.task import Approval, ApprovalSignal, Decision, TaskInput, TaskRecord
from contracts.tools import ToolCall, args_digest
from contracts.transcript import UserTurn
from contracts.verdicts import Actor, Ask, Reason
from workflows import messages
from workflows.carding import Put, card
from workflows.state import TaskState

NOW = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)
PERSON = "telegram:7"
APPROVER = "telegram:8"


@dataclass
class Scene:
    """A task with an open approval, and the decision that its person would make."""

    chance: random.Random
    state: TaskState
    puts: list[Put]
    approval: Approval
    yes: Decision
    now: datetime = NOW
    used: set[tuple[str, str]] = field(default_factory=set)

    def decided(self, decision: Decision, now: datetime | None = None) -> bool:
        """Whether the task takes the decision, as its update handler would."""
        try:
            messages.check_decision(self.state, decision, now or self.now)
        except ApplicationError:
            return False
        self.state.seen(messages.decision_key(decision.approval_id))
        self.state.decision = decision
        return True

    def runs(
        self,
        approval: Approval | None,
        put: Put | None = None,
        changes: dict[str, object] | None = None,
        now: datetime | None = None,
    ) -> bool:
        """Whether the call would run with this approval, as the acting worker finds it."""
        put, now = put or self.puts[0], now or self.now
        bound = put.bound.model_copy(update=changes)
        confirmed = not put.verdict.step_up or self.yes.step_up is not None
        granted = grant(put.verdict, approval, put.call.call_id, bound, now, confirmed=confirmed)
        return isinstance(granted, Granted)


def seeded() -> random.Random:
    """The same abuses in every run."""
    return random.Random(20260504)  # noqa: S311 - nothing secret is drawn from it


def scene(chance: random.Random, *, step_up: bool | None = None) -> Scene:
    """Anything between a plain question and a plan of three steps with a second factor."""
    needs = chance.random() < 0.3 if step_up is None else step_up
    puts = [_put(chance, needs) for _ in range(chance.randint(1, 3))]
    approval = card(puts, f"a{chance.randrange(10**6)}", NOW, NOW + timedelta(hours=chance.randint(1, 72)), "en")
    state = _state()
    state.put_approval(approval)
    return Scene(chance, state, puts, approval, yes(approval, PERSON))


def yes(approval: Approval, by: str) -> Decision:
    purpose = approval_purpose(approval.approval_id, approval.digest)
    return Decision(
        approval_id=approval.approval_id,
        call_id=approval.call_id,
        args_sha256=approval.args_sha256,
        approve=True,
        by=by,
        digest=approval.digest,
        step_up=StepUp(purpose=purpose, by=by, at=NOW, proof="proven elsewhere") if approval.step_up else None,
    )


def _put(chance: random.Random, step_up: bool) -> Put:
    args = {"script": f"curl https://{chance.randrange(10**9)}.test"}
    sha256 = args_digest("shell", dict(args))
    call = ToolCall(
        call_id=f"c{chance.randrange(10**9)}", tool="shell", args=dict(args), args_sha256=sha256, summary="-"
    )
    verdict = Ask(
        reasons=(Reason(rule="url.unlisted"),),
        egress=(HostGrant(host="asked.test"),),
        step_up=step_up,
        aim="out:asked.test",
        approvers=(APPROVER,),
        policy_version="p1",
    )
    bound = Bound(
        tool="shell",
        args_sha256=sha256,
        cwd="/workspace",
        operands={"/workspace/x.sh": f"{chance.getrandbits(256):064x}"},
        policy_version="p1",
    )
    return Put(call, JudgeOutcome(verdict=verdict, preview=str(args)), verdict, bound, ())


def _state() -> TaskState:
    return TaskState(
        TaskInput(
            record=TaskRecord(task_id="t1", created_at=NOW),
            request=UserTurn(text="do it", at=NOW, message_id="m0"),
            goal="do it",
            actor=Actor(user_id=PERSON, role="member", channel="telegram"),
            address=Address(channel="telegram", chat_id="7"),
            language="en",
        )
    )


def double_tap(at: Scene) -> bool:
    """The second of two equal taps, or of a yes and a no."""
    assert at.decided(at.yes)
    again = at.yes if at.chance.random() < 0.5 else at.yes.model_copy(update={"by": "console:anna", "approve": False})
    return at.decided(again)


def late(at: Scene) -> bool:
    beyond = timedelta(seconds=at.chance.choice([0, 1, 3_600, 10**6]))
    return at.decided(at.yes, at.approval.expires_at + beyond)


def late_at_execution(at: Scene) -> bool:
    assert at.decided(at.yes)
    return at.runs(at.approval, now=at.approval.expires_at + timedelta(seconds=at.chance.choice([0, 1, 3_600])))


def foreign(at: Scene) -> bool:
    """Somebody else, also one whose name is nearly right."""
    by = at.chance.choice(["telegram:70", "telegram:", "", "Telegram:7", "telegram:7 ", "consol:x", "telegram:*", "*"])
    return at.decided(at.yes.model_copy(update={"by": by}))


def approver_for_good(at: Scene) -> bool:
    """An approver decides this once, and not for good."""
    return at.decided(yes(at.approval, APPROVER).model_copy(update={"always": at.chance.choice(["task", "person"])}))


def foreign_approval(at: Scene) -> bool:
    """A decision on another task's approval, under this one's id or its own."""
    other = scene(at.chance).yes
    keep = {"approval_id": at.approval.approval_id} if at.chance.random() < 0.5 else {}
    return at.decided(other.model_copy(update=keep))


def foreign_at_execution(at: Scene) -> bool:
    return at.runs(scene(at.chance).approval)


def edited(at: Scene) -> bool:
    change = at.chance.choice(
        [
            {"args_sha256": "0" * 64},
            {"digest": "0" * 64},
            {"digest": f"{at.chance.getrandbits(256):064x}"},
            {"call_id": "c0"},
            {"approval_id": at.approval.approval_id + "x"},
            {"approval_id": at.approval.approval_id.upper() + " "},
        ]
    )
    return at.decided(at.yes.model_copy(update=change))


def edited_at_execution(at: Scene) -> bool:
    """The approval is not as it was decided, or the call is not as it was approved."""
    assert at.decided(at.yes)
    first = at.approval.covers[0]
    approvals: list[dict[str, object]] = [
        {"digest": "0" * 64},
        {"covers": ()},
        {"call_id": "c0"},
        {"args_sha256": "0" * 64},
        {"tool": "files"},
        {"covers": (first, first.model_copy(update={"call_id": "c0"}))},
        {"covers": (first.model_copy(update={"digest": "1" * 64}), *at.approval.covers[1:])},
        {"covers": (first.model_copy(update={"bound": None}), *at.approval.covers[1:])},
        {"covers": (first.model_copy(update={"bound": Bound(tool="shell", args_sha256="0" * 64)}),)},
    ]
    if at.chance.random() < 0.5:
        return at.runs(at.approval.model_copy(update=at.chance.choice(approvals)))
    calls: list[dict[str, object]] = [
        {"tool": "files"},
        {"args_sha256": "0" * 64},
        {"cwd": "/tmp"},
        {"env_sha256": "0" * 64},
        {"operands": {}},
        {"operands": {"/workspace/x.sh": "0" * 64}},
        {"operands": {"/workspace/x.sh": "absent"}},
        {"policy_version": "p2"},
        {"tainted": True},
    ]
    return at.runs(at.approval, changes=at.chance.choice(calls))


def replayed(at: Scene) -> bool:
    """The same decision once more: after the question was closed, and for the next question."""
    assert at.decided(at.yes)
    at.state.put_approval(None)
    if at.chance.random() < 0.5:
        return at.decided(at.yes)
    at.state.put_approval(scene(at.chance).approval)
    return at.decided(at.yes)


def replayed_at_execution(at: Scene) -> bool:
    """An approval of one call for another call that is the same in all but its id."""
    put = at.puts[0]
    call = put.call.model_copy(update={"call_id": "c0"})
    return at.runs(at.approval, Put(call, put.judged, put.verdict, put.bound, ()))


def without_second_factor(at: Scene) -> bool:
    at = scene(at.chance, step_up=True)
    good = at.yes.step_up
    assert good is not None
    proofs = [
        None,
        good.model_copy(update={"purpose": "lift:k1"}),
        good.model_copy(update={"purpose": approval_purpose("other", at.approval.digest)}),
        good.model_copy(update={"purpose": approval_purpose(at.approval.approval_id, "0" * 64)}),
        good.model_copy(update={"by": "telegram:9"}),
    ]
    return at.decided(at.yes.model_copy(update={"step_up": at.chance.choice(proofs)}))


def by_signal_without_second_factor(at: Scene) -> bool:
    at = scene(at.chance, step_up=True)
    signal = ApprovalSignal(approval_id=at.approval.approval_id)
    return at.decided(messages.decision_of(at.state, signal, approve=True))


def forged_proof_at_execution(at: Scene) -> bool:
    at = scene(at.chance, step_up=True)
    at.yes = at.yes.model_copy(update={"step_up": None})
    return at.runs(at.approval.model_copy(update={"step_up": at.chance.random() < 0.5}))


def after_the_end(at: Scene) -> bool:
    at.state.closing = True
    return at.decided(at.yes)


ABUSES: tuple[Callable[[Scene], bool], ...] = (
    double_tap,
    late,
    late_at_execution,
    foreign,
    approver_for_good,
    foreign_approval,
    foreign_at_execution,
    edited,
    edited_at_execution,
    replayed,
    replayed_at_execution,
    without_second_factor,
    by_signal_without_second_factor,
    forged_proof_at_execution,
    after_the_end,
)
