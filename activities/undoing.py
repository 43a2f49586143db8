"""The activity that takes back what a step did to files; it runs on the host that holds the sandbox."""

from temporalio import activity
from temporalio.exceptions import ApplicationError

from activities.beat import Pulse, alive
from activities.undo import undo
from contracts import errors
from contracts import undo as contracts
from contracts.sandbox import Host, SandboxLost
from contracts.undo import Undone, UndoRequest


class Undoing(contracts.Undoing):
    """A person asked for it: nothing else takes anything back."""

    def __init__(self, host: Host) -> None:
        self._host = host

    @activity.defn(name="undo_in_sandbox")
    async def undo_in_sandbox(self, request: UndoRequest) -> Undone:
        """Raises: ApplicationError(SandboxLost)."""
        try:
            return await alive(self._undone(request), Pulse(activity.heartbeat), lambda: False)
        except SandboxLost as error:
            raise ApplicationError(str(error), type=errors.SANDBOX_LOST, non_retryable=True) from error

    async def _undone(self, request: UndoRequest) -> Undone:
        return await undo(await self._host.open(request.lease), request.step)
