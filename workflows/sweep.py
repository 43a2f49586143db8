"""One sweep of one host, begun by its schedule. It fails in the open if something is left that nobody owns."""

from temporalio import workflow
from temporalio.exceptions import ApplicationError

from contracts import errors
from contracts.activities import Leasing, SweepRequest
from contracts.queues import host_queue
from contracts.sandbox import SweepReport
from workflows import limits


@workflow.defn(name="SweepWorkflow")
class SweepWorkflow:
    """A workflow only so that the Temporal UI shows each sweep and what it found."""

    @workflow.run
    async def run(self, request: SweepRequest) -> SweepReport:
        report = await workflow.execute_activity_method(
            Leasing.sweep_host,
            request,
            task_queue=host_queue(request.host_id),
            schedule_to_start_timeout=limits.SWEEP_WAIT,
            start_to_close_timeout=limits.SWEEP_ATTEMPT,
            heartbeat_timeout=limits.HOST_HEARTBEAT,
            retry_policy=limits.SWEEP_RETRY,
            summary=f"sweep {request.host_id}",
        )
        if report.left:
            left = ", ".join(report.left[:20])
            raise ApplicationError(f"nobody owns {left}, and it could not be removed", report, type=errors.SWEEP_LEFT)
        return report
