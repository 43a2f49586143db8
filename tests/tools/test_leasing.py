"""The activities lease_sandbox and release_sandbox."""

import pytest
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from activities.leasing import TRY_AGAIN, Leasing
from contracts.sandbox import LeaseRequest, SandboxUnavailable
from tests.tools.acting_parts import OneHost
from tests.tools.conftest import LEASE

REQUEST = LeaseRequest(task_id="task1", user_id="telegram:7")


async def test_a_sandbox_is_leased_and_released() -> None:
    host = OneHost(None)
    leasing = Leasing(host)

    lease = await ActivityEnvironment().run(leasing.lease_sandbox, REQUEST)
    await ActivityEnvironment().run(leasing.release_sandbox, lease)

    assert host.released == [LEASE]


async def test_without_an_engine_the_remedy_is_told_and_it_is_tried_again_later() -> None:
    leasing = Leasing(OneHost(None, problem=SandboxUnavailable("no engine: start dockerd")))

    with pytest.raises(ApplicationError, match="start dockerd") as caught:
        await ActivityEnvironment().run(leasing.lease_sandbox, REQUEST)

    assert (caught.value.type, caught.value.non_retryable) == ("SandboxUnavailable", False)
    assert caught.value.next_retry_delay == TRY_AGAIN
