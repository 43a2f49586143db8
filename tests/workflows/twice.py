"""A client that says everything twice, as one does that never saw the first answer."""

import logging
from collections.abc import Awaitable
from dataclasses import replace
from typing import Any

from temporalio.client import (
    Interceptor,
    OutboundInterceptor,
    SignalWorkflowInput,
    StartWorkflowUpdateInput,
    StartWorkflowUpdateWithStartInput,
    WorkflowUpdateFailedError,
    WorkflowUpdateHandle,
)
from temporalio.service import RPCError

LOG = logging.getLogger(__name__)


class Twice(Interceptor):
    """Updates come again under another id, or the server itself would drop them; the first answer counts."""

    def intercept_client(self, next: OutboundInterceptor) -> OutboundInterceptor:
        return _Outbound(next)


class _Outbound(OutboundInterceptor):
    async def signal_workflow(self, input: SignalWorkflowInput) -> None:
        await super().signal_workflow(input)
        await _again(super().signal_workflow(input))

    async def start_workflow_update(self, input: StartWorkflowUpdateInput) -> WorkflowUpdateHandle[Any]:
        first = await super().start_workflow_update(input)
        await _again(super().start_workflow_update(replace(input, update_id=None)))
        return first

    async def start_update_with_start_workflow(
        self, input: StartWorkflowUpdateWithStartInput
    ) -> WorkflowUpdateHandle[Any]:
        first = await super().start_update_with_start_workflow(input)
        given = input.update_workflow_input
        repeated = StartWorkflowUpdateInput(
            id=input.start_workflow_input.id,
            run_id=None,
            first_execution_run_id=None,
            update_id=None,
            update=given.update,
            args=given.args,
            wait_for_stage=given.wait_for_stage,
            headers=given.headers,
            ret_type=given.ret_type,
            rpc_metadata=input.rpc_metadata,
            rpc_timeout=input.rpc_timeout,
        )
        await _again(super().start_workflow_update(repeated))
        return first


async def _again(second: Awaitable[object]) -> None:
    """Send it; the workflow may refuse it or have ended, and that is as good."""
    try:
        await second
    except (RPCError, WorkflowUpdateFailedError) as refused:
        LOG.info("the second was refused: %s", refused)
