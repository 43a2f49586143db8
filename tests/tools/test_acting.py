"""The activity run_tool."""

import asyncio
import errno
from dataclasses import replace
from datetime import timedelta

import pytest
from temporalio.activity import ActivityCancellationDetails
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from activities.tool import ToolContext
from contracts.activities import Demands, Earlier, RunOutcome, RunRequest
from contracts.messages import HostGrant
from contracts.tools import ToolResult, args_digest
from contracts.verdicts import Allow, Ask, Deny, Reason
from tests.tools.acting_parts import (
    NOW,
    SECRET,
    OneHost,
    Rig,
    Scripted,
    approval,
    call,
    request,
    result,
)
from tests.tools.conftest import LEASE, MemoryBlobs
from tests.tools.local_sandbox import LocalSandbox

TOUCH = call("shell", {"script": "echo x >> effect; cat effect"})
ASK = Ask(reasons=(Reason(rule="deletes"),), egress=(HostGrant(host="asked.test"),))


@pytest.fixture
def rig(blobs: MemoryBlobs, sandbox: LocalSandbox) -> Rig:
    return Rig(blobs, OneHost(sandbox))


async def run(rig: Rig, asked: RunRequest, environment: ActivityEnvironment | None = None) -> RunOutcome:
    return await (environment or ActivityEnvironment()).run(rig.acting.run_tool, asked)


def effects(sandbox: LocalSandbox) -> int:
    effect = sandbox.workspace / "effect"
    return len(effect.read_text().splitlines()) if effect.exists() else 0


async def test_an_allowed_call_runs_and_its_whole_result_lies_in_a_blob(rig: Rig, sandbox: LocalSandbox) -> None:
    rig.policy.verdict = Allow(egress=(HostGrant(host="allowed.test"),))

    outcome = await run(rig, request(TOUCH))

    assert (outcome.turn.ok, outcome.turn.error, outcome.replayed) == (True, None, False)
    assert (await rig.whole(outcome.turn.result_ref)).data["stdout"] == "x\n"
    assert sandbox.permitted == [HostGrant(host="allowed.test")]
    assert len(outcome.model_dump_json()) < 1_000


async def test_a_denied_call_does_not_run(rig: Rig, sandbox: LocalSandbox) -> None:
    rig.policy.verdict = Deny(reasons=(Reason(rule="blocked"),))

    outcome = await run(rig, request(TOUCH, approval=approval(TOUCH)))

    assert (outcome.turn.ok, outcome.turn.error) == (False, "denied")
    assert "blocked" in outcome.turn.headline
    assert effects(sandbox) == 0
    assert rig.ledger.entries == {}


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (None, "changed"),
        ({"call_id": "call2"}, "denied"),
        ({"tool": "files"}, "denied"),
        ({"args_sha256": args_digest("shell", {"script": "ls"})}, "denied"),
        ({"digest": "1" * 64}, "denied"),
        ({"covers": ()}, "denied"),
        ({"step_up": True}, "denied"),
        ({"expires_at": NOW}, "changed"),
        ({"expires_at": NOW - timedelta(days=1)}, "changed"),
    ],
)
async def test_a_call_that_asks_runs_with_no_other_approval_than_its_own(
    rig: Rig, sandbox: LocalSandbox, change: dict[str, object] | None, error: str
) -> None:
    rig.policy.verdict = ASK
    given = None if change is None else approval(TOUCH).model_copy(update=change)

    outcome = await run(rig, request(TOUCH, approval=given))

    assert (outcome.turn.ok, outcome.turn.error) == (False, error)
    assert effects(sandbox) == 0
    assert rig.ledger.entries == {}


async def test_an_approved_call_runs_and_reaches_the_hosts_that_the_person_saw(rig: Rig, sandbox: LocalSandbox) -> None:
    rig.policy.verdict = ASK.model_copy(update={"egress": (HostGrant(host="seen.test"), HostGrant(host="new.test"))})

    outcome = await run(rig, request(TOUCH, approval=approval(TOUCH, egress=(HostGrant(host="seen.test"),))))

    assert outcome.turn.ok
    assert sandbox.permitted == [HostGrant(host="seen.test")]


async def test_arguments_that_were_changed_after_judging_do_not_run(rig: Rig, sandbox: LocalSandbox) -> None:
    rig.policy.verdict = ASK
    changed = TOUCH.model_copy(update={"args": {"script": "echo y >> effect; echo changed"}})

    outcome = await run(rig, request(changed, approval=approval(TOUCH)))

    assert outcome.turn.error == "bad_arguments"
    assert effects(sandbox) == 0


@pytest.mark.parametrize(
    ("tool", "args", "error"), [("fly", {}, "unknown_tool"), ("shell", {"script": 5}, "bad_arguments")]
)
async def test_what_is_no_call_is_told_as_such(rig: Rig, tool: str, args: dict[str, int], error: str) -> None:
    outcome = await run(rig, request(call(tool, {**args})))

    assert (outcome.turn.ok, outcome.turn.error) == (False, error)


async def test_a_finished_call_is_read_back_and_not_run_again(rig: Rig, sandbox: LocalSandbox) -> None:
    first = await run(rig, request(TOUCH))
    again = await run(rig, request(TOUCH))

    assert (first.replayed, again.replayed) == (False, True)
    assert again.turn == first.turn
    assert effects(sandbox) == 1


async def test_a_command_in_doubt_joins_in_the_sandbox_that_knows_it(rig: Rig, sandbox: LocalSandbox) -> None:
    await rig.ledger.begin("task1", "call1", TOUCH.args_sha256, "shell", "local/sb1/1")

    outcome = await run(rig, request(TOUCH))

    assert outcome.turn.ok
    assert effects(sandbox) == 1


async def test_a_command_in_doubt_is_not_run_in_another_sandbox(rig: Rig, sandbox: LocalSandbox) -> None:
    await rig.ledger.begin("task1", "call1", TOUCH.args_sha256, "shell", "local/sb0/1")

    outcome = await run(rig, request(TOUCH))

    assert (outcome.turn.ok, outcome.turn.error) == (False, "uncertain")
    assert "may or may not" in (await rig.whole(outcome.turn.result_ref)).text
    assert effects(sandbox) == 0


async def test_a_command_that_may_have_begun_on_a_lost_host_is_not_run_on_another(
    rig: Rig, sandbox: LocalSandbox
) -> None:
    there = LEASE.model_copy(update={"host_id": "lost", "sandbox_id": "sb0"})
    what = request(TOUCH).model_copy(update={"earlier": Earlier(lease=there, at=NOW)})

    outcome = await run(rig, what)

    assert (outcome.turn.ok, outcome.turn.error) == (False, "uncertain")
    assert f"{NOW:%Y-%m-%d %H:%M:%S}" in (await rig.whole(outcome.turn.result_ref)).text
    assert effects(sandbox) == 0
    # and: whoever asks again is told the same
    assert (await run(rig, request(TOUCH))).turn == outcome.turn


@pytest.mark.parametrize(("repeatable", "error", "runs"), [(True, None, 1), (False, "uncertain", 0)])
async def test_a_tool_in_doubt_runs_again_only_if_that_changes_nothing(
    rig: Rig, repeatable: bool, error: str | None, runs: int
) -> None:
    tool = Scripted(result, repeatable=repeatable)
    rig.tools = (tool,)
    what = call("scripted", {})
    await rig.ledger.begin("task1", "call1", what.args_sha256, "scripted", "local")

    outcome = await run(rig, request(what, lease=None))

    assert (outcome.turn.error, tool.runs) == (error, runs)


async def test_secrets_are_taken_out_of_all_that_is_kept(rig: Rig, blobs: MemoryBlobs) -> None:
    script = f"echo {SECRET}; echo {SECRET} >&2; yes {SECRET} | head -n 20000"

    outcome = await run(rig, request(call("shell", {"script": script})))

    assert outcome.files
    assert not [one for one in blobs.stored.values() if SECRET.encode() in one]
    assert SECRET not in outcome.model_dump_json()


async def test_a_tool_that_breaks_gives_a_plain_result_without_a_trace(
    rig: Rig, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(context: ToolContext) -> ToolResult:
        raise KeyError(f"token {SECRET}")

    rig.tools = (Scripted(broken),)

    outcome = await run(rig, request(call("scripted", {}), lease=None))
    whole = await rig.whole(outcome.turn.result_ref)

    assert outcome.turn.error == "failed"
    assert "Traceback" not in whole.text
    assert SECRET not in whole.text
    assert "KeyError" in caplog.text
    assert SECRET not in caplog.text


async def test_a_full_disk_is_no_result_but_tried_again(rig: Rig) -> None:
    def full(context: ToolContext) -> ToolResult:
        raise OSError(errno.ENOSPC, "No space left on device")

    rig.tools = (Scripted(full),)

    with pytest.raises(OSError, match="No space left"):
        await run(rig, request(call("scripted", {}), lease=None))


async def test_a_tool_that_outstays_its_time_is_stopped(rig: Rig) -> None:
    class Sleeping(Scripted):
        async def run(self, args: object, context: ToolContext) -> ToolResult:
            await asyncio.sleep(60)
            raise AssertionError

    rig.tools = (Sleeping(result, seconds=0.2),)

    outcome = await run(rig, request(call("scripted", {}), lease=None))

    assert (outcome.turn.ok, outcome.turn.error) == (False, "timed_out")


OTHER = LEASE.model_copy(update={"epoch": 2})


@pytest.mark.parametrize(
    ("lease", "attempt", "kind"), [(None, 1, "SandboxLost"), (OTHER, 1, "SandboxRefused"), (OTHER, 2, "SandboxLost")]
)
async def test_a_lost_sandbox_is_told_to_the_workflow_and_whether_nothing_can_have_begun(
    rig: Rig, lease: object, attempt: int, kind: str
) -> None:
    environment = ActivityEnvironment()
    environment.info = replace(environment.info, attempt=attempt)
    asked = request(TOUCH).model_copy(update={"lease": lease})

    with pytest.raises(ApplicationError) as caught:
        await run(rig, asked, environment)

    assert (caught.value.type, caught.value.non_retryable) == (kind, True)
    assert rig.ledger.entries == {}


async def test_the_same_call_id_with_other_arguments_never_runs(rig: Rig, sandbox: LocalSandbox) -> None:
    await run(rig, request(call("shell", {"script": "true"})))

    with pytest.raises(ApplicationError) as caught:
        await run(rig, request(TOUCH))

    assert (caught.value.type, caught.value.non_retryable) == ("CallChanged", True)
    assert effects(sandbox) == 0


LONG = call("shell", {"script": "sleep 1.5; echo x >> effect"})


async def _cancelled(rig: Rig, details: ActivityCancellationDetails) -> None:
    environment = ActivityEnvironment()
    running = asyncio.create_task(run(rig, request(LONG), environment))
    await asyncio.sleep(0.7)
    environment.cancel(details)
    with pytest.raises(asyncio.CancelledError):
        await running


async def test_a_cancelled_call_ends_its_command(rig: Rig, sandbox: LocalSandbox) -> None:
    await _cancelled(rig, ActivityCancellationDetails(cancel_requested=True))
    await asyncio.sleep(1.5)

    assert effects(sandbox) == 0


@pytest.mark.parametrize(
    "details", [ActivityCancellationDetails(worker_shutdown=True), ActivityCancellationDetails(timed_out=True)]
)
async def test_a_worker_that_shuts_down_leaves_the_command_to_the_next_attempt(
    rig: Rig, sandbox: LocalSandbox, details: ActivityCancellationDetails
) -> None:
    await _cancelled(rig, details)

    outcome = await run(rig, request(LONG))

    assert outcome.turn.ok
    assert effects(sandbox) == 1


async def test_life_is_reported_while_a_command_is_silent(rig: Rig) -> None:
    beats: list[object] = []
    environment = ActivityEnvironment()
    environment.on_heartbeat = lambda *details: beats.extend(details)

    await run(rig, request(call("shell", {"script": "sleep 2.5"})), environment)

    assert len(beats) >= 2


async def test_a_call_that_needs_another_runtime_does_not_run(rig: Rig, sandbox: LocalSandbox) -> None:
    rig.policy.demanded = Demands(runtime="runsc")

    outcome = await run(rig, request(TOUCH))

    assert (outcome.turn.ok, outcome.turn.error) == (False, "denied")
    assert "demands the runtime runsc" in (await rig.whole(outcome.turn.result_ref)).text
    assert effects(sandbox) == 0
