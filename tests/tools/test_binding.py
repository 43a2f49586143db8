"""An approval holds for what the person saw: another script, folder, policy or past makes it void, and says so."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pyotp
import pytest
from temporalio.testing import ActivityEnvironment

from activities.binding import operands_of
from activities.noting import Noting
from contracts.activities import ApprovalNote, FingerprintRequest, JudgeRequest, RunOutcome
from contracts.approvals import Shape, StandingRule, approval_purpose, joint_digest, with_operands
from contracts.audit import Event
from contracts.task import Approval, Decision
from contracts.verdicts import Action, Allow, Ask, CommandAction, FileAction, Reason, SendAction
from runtime.keys import Keyring
from runtime.paths import DataPaths
from runtime.second_factor import SecondFactor, new_secret
from tests.tools.acting_parts import NOW, OneHost, Rig, approval, call, judged, request
from tests.tools.conftest import LEASE, MemoryBlobs
from tests.tools.local_sandbox import LocalSandbox

ASK = Ask(reasons=(Reason(rule="command.opaque_code"),), policy_version="p1")
RUN = call("shell", {"script": "bash run.sh"})


@pytest.fixture
def rig(blobs: MemoryBlobs, sandbox: LocalSandbox) -> Rig:
    (sandbox.workspace / "run.sh").write_text("echo ran >> effect")
    made = Rig(blobs, OneHost(sandbox))
    made.policy.verdict = ASK
    return made


async def approved(rig: Rig, asked: JudgeRequest) -> Approval:
    """What the workflow puts to a person now, files included."""
    outcome = (await rig.examiner.examine(asked)).outcome
    assert outcome.bound is not None
    look = FingerprintRequest(lease=LEASE, paths=outcome.operands)
    found = await ActivityEnvironment().run(rig.acting.fingerprint, look)
    bound = with_operands(outcome.bound, outcome.operands, found.real, found.content)
    given = approval(asked.call)
    covered = given.covers[0].model_copy(update={"digest": bound.digest(), "bound": bound})
    return given.model_copy(update={"covers": (covered,), "digest": joint_digest([covered.digest])})


async def ran(rig: Rig, given: Approval, **changes: object) -> RunOutcome:
    asked = request(RUN, approval=given)
    return await ActivityEnvironment().run(rig.acting.run_tool, asked.model_copy(update=changes))


def effects(sandbox: LocalSandbox) -> int:
    effect = sandbox.workspace / "effect"
    return len(effect.read_text().splitlines()) if effect.exists() else 0


async def test_what_was_approved_runs_as_long_as_nothing_has_changed(rig: Rig, sandbox: LocalSandbox) -> None:
    outcome = await ran(rig, await approved(rig, judged(RUN)))

    assert outcome.turn.ok
    assert effects(sandbox) == 1


def edit(sandbox: LocalSandbox) -> None:
    (sandbox.workspace / "run.sh").write_text("echo evil >> effect")


def remove(sandbox: LocalSandbox) -> None:
    (sandbox.workspace / "run.sh").unlink()


def replace_by_link(sandbox: LocalSandbox) -> None:
    (sandbox.workspace / "evil.sh").write_text("echo evil >> effect")
    remove(sandbox)
    (sandbox.workspace / "run.sh").symlink_to("evil.sh")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (edit, "the file /workspace/run.sh has changed"),
        (remove, "the file /workspace/run.sh is gone"),
        (replace_by_link, "the file /workspace/evil.sh has appeared"),
    ],
)
async def test_a_script_that_was_edited_after_the_yes_does_not_run(
    rig: Rig, sandbox: LocalSandbox, change: Callable[[LocalSandbox], None], said: str
) -> None:
    given = await approved(rig, judged(RUN))
    change(sandbox)

    outcome = await ran(rig, given)

    assert outcome.turn.error == "changed"
    assert said in outcome.turn.headline
    assert effects(sandbox) == 0
    assert rig.ledger.entries == {}


async def test_a_script_that_appears_after_the_yes_does_not_run(rig: Rig, sandbox: LocalSandbox) -> None:
    remove(sandbox)
    given = await approved(rig, judged(RUN))
    edit(sandbox)

    outcome = await ran(rig, given)

    assert outcome.turn.error == "changed"
    assert "has appeared" in outcome.turn.headline
    assert effects(sandbox) == 0


async def test_a_yes_of_before_the_task_read_foreign_content_does_not_count(rig: Rig, sandbox: LocalSandbox) -> None:
    given = await approved(rig, judged(RUN))

    outcome = await ran(rig, given, judged=judged(RUN, tainted=True))

    assert outcome.turn.error == "changed"
    assert "the task has read foreign content" in outcome.turn.headline
    assert effects(sandbox) == 0


async def test_a_yes_under_another_policy_does_not_count(rig: Rig, sandbox: LocalSandbox) -> None:
    given = await approved(rig, judged(RUN))
    rig.policy.verdict = ASK.model_copy(update={"policy_version": "p2"})

    outcome = await ran(rig, given)

    assert outcome.turn.error == "changed"
    assert "the policy has changed" in outcome.turn.headline
    assert effects(sandbox) == 0


async def test_an_approval_is_used_up_by_its_call(rig: Rig, sandbox: LocalSandbox) -> None:
    given = await approved(rig, judged(RUN))
    await ran(rig, given)
    again = await ran(rig, given)
    rig.ledger.used["task1", given.approval_id, RUN.call_id] = "0" * 64
    spent = await ran(rig, await approved(rig, judged(RUN)))

    assert again.replayed
    assert spent.turn.error == "denied"
    assert "has been used" in spent.turn.headline
    assert effects(sandbox) == 1


async def test_only_a_proof_of_this_installation_for_this_approval_lets_a_call_run_that_needs_one(
    rig: Rig, sandbox: LocalSandbox, tmp_path: Path
) -> None:
    factor, secret = SecondFactor(DataPaths(tmp_path), Keyring.load(tmp_path)), new_secret()
    factor.enrol(secret, pyotp.TOTP(secret).at(NOW - timedelta(minutes=5)), "console:1", NOW - timedelta(minutes=5))
    rig.confirmed = factor.verify
    rig.policy.verdict = ASK.model_copy(update={"step_up": True})
    given = await approved(rig, judged(RUN))
    purpose = approval_purpose(given.approval_id, given.digest)
    proof = factor.confirm(pyotp.TOTP(secret).at(NOW), purpose, "console:1", NOW)

    forged = [None, proof.model_copy(update={"by": "console:2"}), proof.model_copy(update={"proof": "0" * 64})]
    refused = [(await ran(rig, given, step_up=each)).turn.error for each in forged]
    good = await ran(rig, given, step_up=proof)

    assert refused == ["denied"] * 3
    assert good.turn.ok
    assert effects(sandbox) == 1


@pytest.mark.parametrize(
    ("actions", "files"),
    [
        ((CommandAction(script="bash run.sh; python3 in/a.py"),), {"/workspace/run.sh", "/workspace/in/a.py"}),
        ((CommandAction(script="cd /tmp && ./x"),), {"/tmp/x"}),
        ((CommandAction(script="curl -T data.csv https://x.test"),), {"/workspace/data.csv"}),
        ((CommandAction(script="cat data.csv"),), set()),
        (
            (FileAction(operation="read", path="a.txt"), SendAction(recipient="bob@x.test", what="a.txt")),
            {"/workspace/a.txt"},
        ),
        ((FileAction(operation="read", path="a.txt"),), set()),
    ],
)
def test_files_that_would_run_or_leave_belong_to_what_is_approved(actions: tuple[Action, ...], files: set[str]) -> None:
    assert set(operands_of(actions)) == files


class Kept:
    """Standing rules and a record in memory."""

    def __init__(self) -> None:
        self.rules: dict[str, StandingRule] = {}
        self.events: list[Event] = []

    async def of(self, user_id: str, task_id: str, now: object) -> tuple[StandingRule, ...]:
        return tuple(self.rules.values())

    async def add(self, rule: StandingRule) -> None:
        self.rules.setdefault(rule.rule_id, rule)

    async def record(self, event: Event) -> None:
        self.events.append(event)


async def test_a_yes_for_good_is_recorded_and_kept_once(rig: Rig) -> None:
    kept = Kept()
    shown = approval(RUN, shape=Shape(tool="shell", parts={"command": "bash run.sh"}))
    yes = Decision(
        approval_id="a1", call_id=RUN.call_id, args_sha256=RUN.args_sha256, approve=True, by="telegram:7", always="task"
    )
    note = ApprovalNote(
        task_id="task1", user_id="telegram:7", approval=shown, event="decided", decision=yes, role="owner"
    )
    noting = Noting(kept, kept, lambda: NOW)
    for each in (note.model_copy(update={"event": "asked", "decision": None}), note, note):
        await ActivityEnvironment().run(noting.note_approval, each)

    (rule,) = kept.rules.values()
    assert (rule.task_id, rule.user_id, rule.role, rule.shape) == ("task1", "telegram:7", "owner", shown.shape)
    assert [event.kind for event in kept.events][:3] == ["approval.asked", "approval.decided", "standing.added"]
    assert all(event.digest == shown.digest for event in kept.events)
    assert "run.sh" not in str([event.data for event in kept.events])


async def test_a_rule_that_is_taken_back_between_judging_and_running_stops_the_call(
    rig: Rig, sandbox: LocalSandbox
) -> None:
    rig.policy.verdict = Allow(standing="r1")
    assert isinstance((await rig.examiner.examine(judged(RUN))).outcome.verdict, Allow)
    rig.policy.verdict = ASK

    outcome = await ActivityEnvironment().run(rig.acting.run_tool, request(RUN))

    assert outcome.turn.error == "changed"
    assert effects(sandbox) == 0
