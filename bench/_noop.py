"""Activities that do nothing, so that what is measured is what the workflow and its wiring cost."""

from datetime import UTC, datetime

from temporalio import activity

from contracts import activities
from contracts.activities import JudgeOutcome, JudgeRequest, RunOutcome, RunRequest, SnapshotRequest
from contracts.blobs import BlobRef
from contracts.planning import PlanOutcome, PlanRequest, Reply, ToolCalls, Usage
from contracts.provenance import Provenance
from contracts.queues import host_queue
from contracts.sandbox import Lease, LeaseRequest, Snapshot
from contracts.tools import ToolCall, args_digest
from contracts.transcript import ToolTurn
from contracts.verdicts import Allow

HOST = "bench"
ARGS = {"script": "true"}
DIGEST = args_digest("shell", dict(ARGS))


class Noop(activities.Planning, activities.Judging, activities.Acting, activities.Leasing):
    """Plans one call a step, allows it, and says that it went well."""

    def __init__(self, steps: int) -> None:
        self._steps = steps

    @activity.defn(name="plan")
    async def plan(self, request: PlanRequest) -> PlanOutcome:
        call = ToolCall(
            call_id=f"{request.step}.0", tool="shell", args=dict(ARGS), args_sha256=DIGEST, summary="Run: true"
        )
        done = request.step > self._steps
        return PlanOutcome(
            next_step=Reply(text="done") if done else ToolCalls(calls=(call,)),
            transcript_ref=BlobRef(sha256=f"{request.step:064x}", size=1),
            usage=Usage(calls=1),
        )

    @activity.defn(name="judge")
    async def judge(self, request: JudgeRequest) -> JudgeOutcome:
        return JudgeOutcome(verdict=Allow(policy_version=DIGEST), preview="script: true", repeatable=True)

    @activity.defn(name="run_tool")
    async def run_tool(self, request: RunRequest) -> RunOutcome:
        call = request.judged.call
        turn = ToolTurn(
            call_id=call.call_id,
            tool=call.tool,
            ok=True,
            headline="Exit code 0 after 0.0 s",
            result_ref=BlobRef(sha256=DIGEST, size=1),
        )
        return RunOutcome(turn=turn, provenance=Provenance(trusted=True))

    @activity.defn(name="lease_sandbox")
    async def lease_sandbox(self, request: LeaseRequest) -> Lease:
        return Lease(
            sandbox_id="bench",
            task_id=request.task_id,
            host_id=HOST,
            task_queue=host_queue(HOST),
            epoch=1,
            driver="none",
            runtime="none",
            image="none",
        )

    @activity.defn(name="sleep_sandbox")
    async def sleep_sandbox(self, request: SnapshotRequest) -> Snapshot:
        return Snapshot(digest=DIGEST, kind="files", owner=request.lease.task_id, created_at=datetime.now(UTC))
