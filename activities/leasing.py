"""The activities that make and remove sandboxes; they run on the host that holds them."""

from datetime import timedelta

from temporalio import activity
from temporalio.exceptions import ApplicationError

from contracts import activities
from contracts.sandbox import Host, Lease, LeaseRequest, SandboxUnavailable

TRY_AGAIN = timedelta(seconds=5)
"""A few of these let an engine start; after them the person is asked, and should not wait long for that."""


class Leasing(activities.Leasing):
    """Leases from one host; the workflow bounds how long it goes on asking."""

    def __init__(self, host: Host) -> None:
        self._host = host

    @activity.defn(name="lease_sandbox")
    async def lease_sandbox(self, request: LeaseRequest) -> Lease:
        """Raises: ApplicationError of type SandboxUnavailable with the remedy, to be tried again later."""
        try:
            return await self._host.lease(request)
        except SandboxUnavailable as error:
            raise _later(error) from error

    @activity.defn(name="release_sandbox")
    async def release_sandbox(self, lease: Lease) -> None:
        """Raises: ApplicationError of type SandboxUnavailable while the engine does not answer."""
        try:
            await self._host.release(lease)
        except SandboxUnavailable as error:
            raise _later(error) from error


def _later(error: SandboxUnavailable) -> ApplicationError:
    return ApplicationError(str(error), type=SandboxUnavailable.__name__, next_retry_delay=TRY_AGAIN)
