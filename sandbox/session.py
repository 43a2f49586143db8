"""One open sandbox: the seam that tools use, over a link that is made again when it breaks."""

import asyncio
import hashlib
import logging
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from typing import TypeVar

from contracts.language import Language
from contracts.messages import HostGrant
from contracts.sandbox import Command, CommandOutcome, Lease, Progress, SandboxLost
from sandbox import disk
from sandbox.beside import Beside
from sandbox.commands import Commands
from sandbox.driver import Attached, Driver
from sandbox.exchange import LinkBroken
from sandbox.files import AgentFiles
from sandbox.forwarding import forwarded
from sandbox.kept import KeptShell, kept_shell
from sandbox.limits import Limits
from sandbox.link import Link, Serve
from sandbox.linked_files import LinkedFiles
from sandbox.quota import Quota
from sandbox.terminal import Terminal, terminal
from sandbox.trust import Trust

T = TypeVar("T")

TRIES = 3
KILL_SECONDS = 90.0
SHELL = ("bash",)

Reach = Callable[[], Awaitable[Attached]]
"""Makes a stream into the sandbox. Raises: SandboxLost."""

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Linked:
    """A link to the agent and what runs on it."""

    link: Link
    commands: Commands
    files: AgentFiles


class OpenSandbox:
    """A sandbox that can be worked in."""

    def __init__(
        self,
        lease: Lease,
        reach: Reach,
        serve: Serve,
        permit: Callable[[Sequence[HostGrant], str], None],
        driver: Driver,
        limits: Limits,
        trust: Trust | None = None,
        language: Language = "en",
    ) -> None:
        self._lease = lease
        self._reach = reach
        self._serve = serve
        self._permit = permit
        self._limits = limits
        self.quota = Quota(driver, lease.sandbox_id, limits, self._measured, language)
        self._trust = trust
        self._linked: Linked | None = None
        self._linking = asyncio.Lock()
        self._closed = False
        self._users = 0
        self.files = LinkedFiles(self)
        self._beside = Beside(lambda: driver.trees(lease.sandbox_id))

    @property
    def lease(self) -> Lease:
        return self._lease

    @property
    def busy(self) -> bool:
        """True while a command, a transfer, a forward, a kept shell or a terminal is under way."""
        return self._users > 0

    def hand_over(self, lease: Lease) -> None:
        """It was made ahead; from now on it is this lease's."""
        self._lease = lease

    @property
    def connected(self) -> bool:
        """True while its link holds."""
        return self._linked is not None and not self._linked.link.lost

    async def run(self, command: Command, progress: Progress | None = None) -> CommandOutcome:
        """Raises: SandboxLost."""
        return await self._run(await self._trusting(command), progress)

    async def _trusting(self, command: Command) -> Command:
        return await self._trust.given_to(command, self._run) if self._trust else command

    async def _run(self, command: Command, progress: Progress | None = None) -> CommandOutcome:
        key = call_key(command.call_id or secrets.token_hex(16))
        try:
            return await self.quota.run(
                command,
                lambda given: self.use(lambda linked: linked.commands.run(given, key, progress)),
                lambda: self._kill(key),
            )
        except asyncio.CancelledError:
            if not self._closed:
                await self._kill(key)
            raise

    @asynccontextmanager
    async def session(self, cwd: str = "/workspace") -> AsyncIterator[KeptShell]:
        """A kept shell. Raises: SandboxLost, ShellEnded."""
        with self.used():
            linked = await self.ready()
            try:
                async with kept_shell(linked.link, call_key(secrets.token_hex(16)), self._limits, cwd) as shell:
                    yield shell
            except LinkBroken as error:
                raise SandboxLost(f"the kept shell of {self._lease.sandbox_id} is lost: {error}") from error

    def forward(self, port: int) -> AbstractAsyncContextManager[int]:
        """Raises: SandboxLost."""
        return self._forward(port)

    @asynccontextmanager
    async def terminal(self, columns: int, rows: int, command: tuple[str, ...] = ()) -> AsyncIterator[Terminal]:
        """A shell or a command, at a terminal of this size, or without columns behind plain pipes; leaving ends it.

        Raises: SandboxLost."""
        started = await self._trusting(Command(argv=command or SHELL))
        with self.used():
            try:
                link = (await self.ready()).link
                async with terminal(link, columns, rows, started.argv or SHELL, started.env) as opened:
                    yield opened
            except LinkBroken as error:
                raise SandboxLost(f"the terminal of {self._lease.sandbox_id} is lost: {error}") from error

    async def permit_write(self) -> int:
        """How many bytes may still be written. Raises: FileRefused if there are none."""
        return await self.quota.permit_write()

    def permit(self, egress: Sequence[HostGrant], role: str = "") -> None:
        self._permit(egress, role)

    async def ready(self) -> Linked:
        """The present link, or a new one. Raises: SandboxLost."""
        async with self._linking:
            if self._closed:
                raise SandboxLost(f"{self._lease.sandbox_id} has been closed here")
            if self._linked is not None and not self._linked.link.lost:
                return self._linked
            await self._unlink()
            try:
                link = await Link.opened(await self._reach(), self._serve)
            except LinkBroken as error:
                raise SandboxLost(f"{self._lease.sandbox_id}: {error}") from error
            self._linked = Linked(link, Commands(link, self._limits), AgentFiles(link, self._beside))
            return self._linked

    async def use(self, act: Callable[[Linked], Awaitable[T]]) -> T:
        """Act over the link; if it breaks though the sandbox lives, act again. Raises: SandboxLost."""
        cause: BaseException | None = None
        with self.used():
            for _ in range(TRIES):
                linked = await self.ready()
                try:
                    return await act(linked)
                except LinkBroken as error:
                    cause = error
                    log.info("the link to %s broke: %s", self._lease.sandbox_id, error)
        raise SandboxLost(f"{self._lease.sandbox_id} breaks every link: {cause}") from cause

    @contextmanager
    def used(self) -> Iterator[None]:
        """Something is under way."""
        self._users += 1
        try:
            yield
        finally:
            self._users -= 1

    def freeze(self) -> None:
        """Its processes are about to stand still: from now on silence means nothing."""
        if self._linked is not None:
            self._linked.link.frozen = True

    def thaw(self) -> None:
        """They run again."""
        if self._linked is not None:
            self._linked.link.thaw()

    async def disconnect(self) -> None:
        """Close every stream; the next use opens a new one."""
        async with self._linking:
            await self._unlink()

    async def close(self) -> None:
        """Leave the sandbox as it is; what waits for it here is told that it is lost."""
        self._closed = True
        await self.disconnect()

    async def _unlink(self) -> None:
        linked, self._linked = self._linked, None
        if linked is not None:
            await linked.link.close()

    async def _measured(self) -> int | None:
        key = call_key(secrets.token_hex(16))
        return disk.total_of(await self.use(lambda linked: linked.commands.run(disk.INSIDE, key, None)))

    async def _kill(self, key: str) -> None:
        with suppress(SandboxLost, TimeoutError):
            async with asyncio.timeout(KILL_SECONDS):
                await self.use(lambda linked: linked.commands.kill(key))

    @asynccontextmanager
    async def _forward(self, port: int) -> AsyncIterator[int]:
        async def link() -> Link:
            return (await self.ready()).link

        with self.used():
            await link()
            async with forwarded(port, link) as local_port:
                yield local_port


def call_key(call_id: str) -> str:
    """A name that is safe in paths and shell words."""
    return hashlib.sha256(call_id.encode("utf-8", "surrogatepass")).hexdigest()[:32]
