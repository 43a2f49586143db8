"""What judging, acting and thinking write down, and that without a record nothing happens."""

from dataclasses import dataclass, field, replace
from typing import Literal

import pytest
from temporalio.testing import ActivityEnvironment

from activities import recording
from activities.acting import Acting
from activities.judging import Judging
from audit.storage import StorageUnusable
from contracts.activities import RunRequest
from contracts.audit import Event
from contracts.messages import HostGrant
from contracts.tools import ToolCall
from contracts.verdicts import Allow, Ask, Deny, Reason, RiskPart, Verdict
from tests.tools.acting_parts import OneHost, Rig, approval, call, judged, request
from tests.tools.conftest import MemoryBlobs
from tests.tools.local_sandbox import LocalSandbox
from tests.tools.test_acting import TOUCH, effects

ASK = Ask(
    reasons=(Reason(rule="deletes", detail="papers/private.txt"),),
    egress=(HostGrant(host="asked.test"),),
    risk=40,
    risk_parts=(RiskPart(name="effect", points=40, detail="rm"),),
    rules=("r7",),
    policy_version="v1",
    destinations=("anna@example.org",),
)


@dataclass
class Kept:
    """A record in a list; `full` is where it takes no more."""

    events: list[Event] = field(default_factory=list)
    full: str = ""

    async def record(self, event: Event) -> None:
        if event.kind == self.full:
            raise StorageUnusable("the disk is full")
        self.events.append(event)

    @property
    def kinds(self) -> list[str]:
        return [event.kind for event in self.events]


@pytest.fixture
def rig(blobs: MemoryBlobs, sandbox: LocalSandbox) -> Rig:
    return Rig(blobs, OneHost(sandbox))


def acting(rig: Rig, kept: Kept) -> Acting:
    return Acting(replace(rig.acting._parts, recorder=kept))


async def run(rig: Rig, kept: Kept, asked: RunRequest) -> None:
    await ActivityEnvironment().run(acting(rig, kept).run_tool, asked)


@pytest.mark.parametrize(
    "verdict", [Allow(), ASK, Deny(reasons=(Reason(rule="deletes", detail="papers/private.txt"),))]
)
async def test_one_line_holds_question_and_verdict_and_no_words_lie_open(rig: Rig, verdict: Verdict) -> None:
    rig.policy.verdict, kept = verdict, Kept()

    await ActivityEnvironment().run(Judging(rig.examiner, kept).judge, judged(TOUCH))

    (line,) = kept.events
    assert (line.kind, line.actor, line.call_id, line.digest) == (
        "verdict",
        "telegram:7",
        TOUCH.call_id,
        TOUCH.args_sha256,
    )
    assert line.data["verdict"] == verdict.kind
    assert line.data["reasons"] == [{"rule": reason.rule} for reason in verdict.reasons]
    assert line.position.count("/") == 2
    question = line.words["question"]
    assert isinstance(question, dict)
    assert question["args"] == TOUCH.args
    for secret in ("effect;", "papers/private.txt", "anna@example.org", "rm"):
        assert secret not in str(line.data)


async def test_a_call_of_a_tool_that_there_is_not_is_written_down_too(rig: Rig) -> None:
    kept = Kept()

    await ActivityEnvironment().run(Judging(rig.examiner, kept).judge, judged(call("fly me", {})))

    (line,) = kept.events
    assert (line.data["tool"], line.words["tool"], line.words["question"]) == (None, "fly me", None)


async def test_of_long_arguments_the_record_has_the_digest(rig: Rig) -> None:
    kept = Kept()
    long = call("shell", {"script": "echo " + "x" * recording.MOST_ARGUMENT_BYTES})

    await ActivityEnvironment().run(Judging(rig.examiner, kept).judge, judged(long))

    question = kept.events[0].words["question"]
    assert isinstance(question, dict)
    assert isinstance(question["args"], dict)
    assert set(question["args"]) == {"sha256", "bytes"}


async def test_an_effect_is_written_down_before_and_after(rig: Rig, sandbox: LocalSandbox) -> None:
    rig.policy.verdict, kept = ASK, Kept()

    given = approval(TOUCH, version=ASK.policy_version)

    await run(rig, kept, request(TOUCH, approval=given))

    before, after = kept.events
    assert (before.kind, after.kind) == ("effect.begun", "effect.ended")
    assert (before.data["approval_id"], before.digest, before.policy_version) == ("a1", given.digest, "v1")
    assert (after.data["ok"], after.data["error"]) == (True, None)
    assert len(str(after.data["result_sha256"])) == 64


async def test_without_a_record_of_its_beginning_nothing_happens(rig: Rig, sandbox: LocalSandbox) -> None:
    kept = Kept(full="effect.begun")

    with pytest.raises(StorageUnusable):
        await run(rig, kept, request(TOUCH))

    assert effects(sandbox) == 0
    assert rig.ledger.entries == {}, "what was not begun is not in doubt"


async def test_without_a_record_of_the_verdict_there_is_none(rig: Rig) -> None:
    with pytest.raises(StorageUnusable):
        await ActivityEnvironment().run(Judging(rig.examiner, Kept(full="verdict")).judge, judged(TOUCH))


async def test_an_effect_whose_end_could_not_be_written_down_is_not_repeated(rig: Rig, sandbox: LocalSandbox) -> None:
    kept = Kept(full="effect.ended")
    with pytest.raises(StorageUnusable):
        await run(rig, kept, request(TOUCH))

    kept.full = ""
    await run(rig, kept, request(TOUCH))

    assert effects(sandbox) == 1
    assert kept.kinds == ["effect.begun", "effect.begun", "effect.ended"]
    assert kept.events[-1].data["replayed"] is True


@pytest.mark.parametrize(
    ("what", "verdict", "error"),
    [(TOUCH, ASK, "changed"), (TOUCH, Deny(reasons=(Reason(rule="deletes"),)), "denied")],
)
async def test_what_the_last_look_refuses_is_written_down(
    rig: Rig, what: ToolCall, verdict: Verdict, error: Literal["changed", "denied"]
) -> None:
    rig.policy.verdict, kept = verdict, Kept()

    await run(rig, kept, request(what))

    (line,) = kept.events
    assert (line.kind, line.data["error"], line.data["rules"]) == ("effect.refused", error, ["deletes"])
