"""The activity judge, the policy file in force, and the catalogue."""

import logging
import time
from pathlib import Path

import pytest
from temporalio.testing import ActivityEnvironment

from activities.catalogue import Catalogue, DuplicateTool
from activities.judging import Judging
from activities.policy_source import PolicyFile
from activities.tools.shell import Shell
from contracts.activities import Demands, JudgeOutcome, JudgeRequest
from contracts.tools import canonical_json
from contracts.values import JsonObject
from contracts.verdicts import Allow, Ask, CommandAction, Deny, Question, Reason, Verdict
from tests.tools.acting_parts import OneHost, Rig, call, judged
from tests.tools.conftest import MemoryBlobs


@pytest.fixture
def rig(blobs: MemoryBlobs) -> Rig:
    return Rig(blobs, OneHost(None))


async def judge(rig: Rig, request: JudgeRequest) -> JudgeOutcome:
    return await ActivityEnvironment().run(Judging(rig.examiner).judge, request)


async def test_policy_is_asked_with_the_actions_of_the_tool(rig: Rig) -> None:
    rig.policy.verdict = Ask(reasons=(Reason(rule="deletes"),))

    outcome = await judge(rig, judged(call("shell", {"script": "rm x", "timeout_seconds": 60}), tainted=True))

    (question,) = rig.policy.questions
    assert question.actions == (CommandAction(script="rm x"),)
    assert (question.tainted, question.provenance.trusted) == (True, False)
    assert outcome.verdict == rig.policy.verdict
    assert (outcome.known, outcome.needs_sandbox, outcome.repeatable) == (True, True, True)
    assert outcome.timeout_seconds == 90
    assert "rm x" in outcome.preview


async def test_long_arguments_are_read_from_their_blob(rig: Rig, blobs: MemoryBlobs) -> None:
    inline = call("shell", {"script": "echo " + "x" * 20_000})
    assert inline.args is not None
    stored = await blobs.put(canonical_json(inline.args).encode())

    outcome = await judge(rig, judged(inline.model_copy(update={"args": None, "args_ref": stored})))

    assert outcome.known
    assert rig.policy.questions[0].args == inline.args


@pytest.mark.parametrize(
    ("tool", "args", "rule"),
    [
        ("fly", {}, "unknown_tool"),
        ("shell", {}, "bad_arguments"),
        ("shell", {"script": ["ls"]}, "bad_arguments"),
        ("shell", {"script": "ls", "timeout_seconds": 1e9}, "bad_arguments"),
        ("shell", {"script": "ls", "sudo": True}, "bad_arguments"),
        ("shell", {"script": "\ud800"}, "bad_arguments"),
    ],
)
async def test_what_is_no_call_is_denied_without_asking_policy(
    rig: Rig, tool: str, args: JsonObject, rule: str
) -> None:
    outcome = await judge(rig, judged(call(tool, args)))

    assert isinstance(outcome.verdict, Deny)
    assert outcome.verdict.reasons[0].rule == rule
    assert outcome.known is False
    assert outcome.problem
    assert rig.policy.questions == []


async def test_arguments_that_do_not_match_their_digest_are_denied(rig: Rig) -> None:
    changed = call("shell", {"script": "ls"}).model_copy(update={"args": {"script": "rm -r /"}})

    outcome = await judge(rig, judged(changed))

    assert isinstance(outcome.verdict, Deny)


async def test_judging_is_quick(rig: Rig) -> None:
    request, judging = judged(call("shell", {"script": "ls -l"})), Judging(rig.examiner)
    await judging.judge(request)
    times = []
    for _ in range(50):
        started = time.perf_counter()
        await judging.judge(request)
        times.append(time.perf_counter() - started)

    assert min(times) < 0.002


def test_two_tools_of_one_name_are_refused() -> None:
    with pytest.raises(DuplicateTool, match="shell"):
        Catalogue([Shell(), Shell()])


QUESTION = Question(actor=judged(call("shell", {})).actor, tool="shell", args={}, actions=())


def _parse(text: str) -> str:
    if not text.startswith("version"):
        raise ValueError(f"line 1: {text!r} is no version")
    return text


def _judge(question: Question, policy: str) -> Verdict:
    return Allow(policy_version=policy)


def test_a_changed_policy_file_is_in_force_at_once(tmp_path: Path) -> None:
    path = tmp_path / "policy.yaml"
    path.write_text("version 1")
    source = PolicyFile(path, _parse, _judge)
    before = source.judge(QUESTION)
    path.write_text("version 2 is longer")

    assert before.policy_version == "version 1"
    assert source.judge(QUESTION).policy_version == "version 2 is longer"


@pytest.mark.parametrize("spoil", [lambda path: path.write_text("broken"), lambda path: path.unlink()])
def test_a_broken_policy_file_leaves_the_former_one_in_force(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, spoil: object
) -> None:
    path = tmp_path / "policy.yaml"
    path.write_text("version 1")
    source = PolicyFile(path, _parse, _judge)
    assert callable(spoil)
    spoil(path)

    with caplog.at_level(logging.ERROR):
        verdict = source.judge(QUESTION)

    assert verdict.policy_version == "version 1"
    assert "former one stays in force" in caplog.text


def test_nothing_starts_without_a_good_policy(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        PolicyFile(tmp_path / "none.yaml", _parse, _judge)
    (tmp_path / "policy.yaml").write_text("broken")
    with pytest.raises(ValueError, match="no version"):
        PolicyFile(tmp_path / "policy.yaml", _parse, _judge)


@pytest.mark.parametrize(("tool", "expected"), [("shell", Demands(runtime="runsc", snapshot=True)), ("fly", Demands())])
async def test_what_policy_wants_of_the_sandbox_goes_with_the_verdict(rig: Rig, tool: str, expected: Demands) -> None:
    rig.policy.demanded = Demands(runtime="runsc", snapshot=True)

    outcome = await judge(rig, judged(call(tool, {"script": "ls"})))

    assert outcome.demands == expected
