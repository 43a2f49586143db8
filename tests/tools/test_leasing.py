"""The activities by which a workflow makes, keeps and removes sandboxes."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from activities.leasing import ROOM_AGAIN, TRY_AGAIN, Leasing
from contracts import errors
from contracts.activities import ReclaimRequest, SnapshotRequest
from contracts.sandbox import (
    HostFull,
    LeaseRequest,
    SandboxBusy,
    SandboxLost,
    SandboxUnavailable,
    Snapshot,
    SnapshotFailed,
    SnapshotUnusable,
)
from tests.tools.acting_parts import OneHost, saved
from tests.tools.conftest import LEASE
from tests.tools.local_sandbox import LocalSandbox

REQUEST = LeaseRequest(task_id="task1", user_id="telegram:7")
SAVE = SnapshotRequest(lease=LEASE, name="step-1")


@dataclass
class Kept:
    """A store whose every snapshot holds project files."""

    reclaimed: list[tuple[str, str]] = field(default_factory=list)

    async def reclaim(self, owner: str, latest: str) -> Snapshot | None:
        self.reclaimed.append((owner, latest))
        return saved(LEASE, "project files", "files")


async def done(activity: Callable[..., Awaitable[Any]], given: object) -> Any:
    return await ActivityEnvironment().run(activity, given)


async def test_a_sandbox_is_leased_frozen_thawed_saved_and_given_up(sandbox: LocalSandbox) -> None:
    host = OneHost(sandbox)
    leasing = Leasing(host, Kept())

    lease = await done(leasing.lease_sandbox, REQUEST)
    await done(leasing.pause_sandbox, lease)
    await done(leasing.resume_sandbox, lease)
    snapshot = await done(leasing.snapshot_sandbox, SAVE)
    await done(leasing.release_sandbox, lease)

    assert host.asked == ["lease", "pause", "resume", "snapshot", "release"]
    assert (snapshot.name, snapshot.kind) == ("step-1", "files")


async def test_a_sleep_whose_answer_was_lost_is_answered_again(sandbox: LocalSandbox) -> None:
    leasing = Leasing(OneHost(sandbox), Kept())

    first = await done(leasing.sleep_sandbox, SAVE)
    again = await done(leasing.sleep_sandbox, SAVE)

    assert first == again


async def test_project_files_are_kept_of_the_latest_state() -> None:
    kept = Kept()

    snapshot = await done(Leasing(OneHost(None), kept).reclaim_sandbox, ReclaimRequest(owner="task1", latest="a" * 64))

    assert kept.reclaimed == [("task1", "a" * 64)]
    assert snapshot.name == "project files"


@pytest.mark.parametrize(
    ("problem", "kind", "again"),
    [
        (SandboxUnavailable("no engine: start dockerd"), errors.SANDBOX_UNAVAILABLE, TRY_AGAIN),
        (HostFull("full: start dockerd elsewhere"), errors.HOST_FULL, ROOM_AGAIN),
        (SnapshotFailed("the store is away: start dockerd"), errors.SNAPSHOT_FAILED, None),
    ],
)
async def test_what_holds_for_a_moment_is_tried_again(problem: Exception, kind: str, again: object) -> None:
    leasing = Leasing(OneHost(None, problem=problem), Kept())

    with pytest.raises(ApplicationError, match="start dockerd") as caught:
        await done(leasing.lease_sandbox, REQUEST)

    assert (caught.value.type, caught.value.non_retryable) == (kind, False)
    assert caught.value.next_retry_delay == again


@pytest.mark.parametrize(
    ("problem", "kind"),
    [
        (SandboxLost("gone"), errors.SANDBOX_LOST),
        (SandboxBusy("a command runs"), errors.SANDBOX_BUSY),
        (SnapshotUnusable("changed"), errors.SNAPSHOT_UNUSABLE),
    ],
)
async def test_what_trying_again_does_not_change_is_for_the_workflow(problem: Exception, kind: str) -> None:
    leasing = Leasing(OneHost(None, problem=problem), Kept())

    with pytest.raises(ApplicationError) as caught:
        await done(leasing.snapshot_sandbox, SAVE)

    assert (caught.value.type, caught.value.non_retryable) == (kind, True)
