"""Sandboxes that stand still and go on: what waits costs no processor time, and wakes in milliseconds."""

from contracts.sandbox import SandboxBusy, SandboxLost, SandboxUnavailable
from sandbox.driver import Driver
from sandbox.opened import Connections


class Freezer:
    """Pauses and resumes the sandboxes of one host; its callers hold the sandbox's lock."""

    def __init__(self, driver: Driver, connections: Connections) -> None:
        self._driver = driver
        self._connections = connections
        self._frozen: set[str] = set()

    def is_frozen(self, sandbox_id: str) -> bool:
        """As far as this process did it; one that an earlier process froze is woken by the first connection."""
        return sandbox_id in self._frozen

    def is_busy(self, sandbox_id: str) -> bool:
        """True while somebody here waits for what runs in it."""
        opened = self._connections.kept(sandbox_id)
        return opened is not None and opened.busy

    async def pause(self, sandbox_id: str) -> None:
        """Raises: SandboxBusy, SandboxLost."""
        if self.is_frozen(sandbox_id):
            return
        opened = self._connections.kept(sandbox_id)
        if opened is not None:
            if opened.busy:
                raise SandboxBusy(f"something runs in {sandbox_id}")
            opened.freeze()
        try:
            await self._driver.pause(sandbox_id)
        except (SandboxLost, SandboxUnavailable) as error:
            if opened is not None:
                opened.thaw()
            raise SandboxLost(str(error)) from error
        self._frozen.add(sandbox_id)

    async def resume(self, sandbox_id: str) -> None:
        """Raises: SandboxLost."""
        try:
            await self._driver.resume(sandbox_id)
        except SandboxUnavailable as error:
            raise SandboxLost(str(error)) from error
        self._frozen.discard(sandbox_id)
        opened = self._connections.kept(sandbox_id)
        if opened is not None:
            opened.thaw()

    def forget(self, sandbox_id: str) -> None:
        self._frozen.discard(sandbox_id)
