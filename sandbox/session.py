"""One open sandbox: the seam that tools use, over a connection that is made again when it breaks."""

import asyncio
import hashlib
import logging
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from typing import TypeVar

import asyncssh

from contracts.language import Language
from contracts.messages import HostGrant
from contracts.sandbox import Command, CommandOutcome, FileEntry, Lease, Progress, SandboxLost
from sandbox import disk
from sandbox.commands import Commands
from sandbox.files import SftpFiles
from sandbox.limits import Limits
from sandbox.quota import Quota, Watched
from sandbox.transport import LINK_ERRORS, Connection

T = TypeVar("T")

TRIES = 3
KILL_SECONDS = 90.0

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Link:
    """A connection and what runs on it."""

    connection: Connection
    commands: Commands
    files: SftpFiles

    async def close(self) -> None:
        await self.commands.close()
        await self.connection.close()


class OpenSandbox:
    """A sandbox that can be worked in."""

    def __init__(
        self,
        lease: Lease,
        connect: Callable[[], Awaitable[Connection]],
        permit: Callable[[Sequence[HostGrant]], None],
        driver: Watched,
        limits: Limits,
        language: Language = "en",
    ) -> None:
        self._lease = lease
        self._connect = connect
        self._permit = permit
        self._output_bytes = limits.output_bytes
        self.quota = Quota(driver, lease.sandbox_id, limits, self._measured, language)
        self._link: Link | None = None
        self._linking = asyncio.Lock()
        self._closed = False
        self.files = LinkedFiles(self)

    @property
    def lease(self) -> Lease:
        return self._lease

    async def run(self, command: Command, progress: Progress | None = None) -> CommandOutcome:
        """Raises: SandboxLost."""
        key = call_key(command.call_id or secrets.token_hex(16))
        try:
            return await self.quota.run(
                command,
                lambda given: self.use(lambda link: link.commands.run(given, key, progress)),
                lambda: self._kill(key, "disk"),
            )
        except asyncio.CancelledError:
            if not self._closed:
                await self._kill(key, "cancelled")
            raise

    def forward(self, port: int) -> AbstractAsyncContextManager[int]:
        """Raises: SandboxLost."""
        return self._forward(port)

    def permit(self, egress: Sequence[HostGrant]) -> None:
        self._permit(egress)

    async def ready(self) -> Link:
        """The present link, or a new one. Raises: SandboxLost."""
        async with self._linking:
            if self._closed:
                raise SandboxLost(f"{self._lease.sandbox_id} has been closed here")
            if self._link is not None and not self._link.connection.lost:
                return self._link
            await self._unlink()
            connection = await self._connect()
            link = Link(connection, Commands(connection, self._output_bytes), SftpFiles(connection))
            try:
                await link.commands.prepare()
            except (*LINK_ERRORS, asyncssh.Error) as error:
                await link.close()
                raise SandboxLost(f"{self._lease.sandbox_id} takes no session: {error}") from error
            except BaseException:
                await link.close()
                raise
            self._link = link
            return link

    async def use(self, act: Callable[[Link], Awaitable[T]]) -> T:
        """Act over the link; if it breaks though the sandbox lives, act again. Raises: SandboxLost."""
        cause: BaseException | None = None
        for _ in range(TRIES):
            link = await self.ready()
            try:
                return await act(link)
            except (*LINK_ERRORS, TimeoutError) as error:
                cause = error
                log.info("the connection to %s broke: %s", self._lease.sandbox_id, error)
                if isinstance(error, TimeoutError):
                    link.connection.ssh.abort()
        raise SandboxLost(f"{self._lease.sandbox_id} breaks every connection: {cause}") from cause

    async def close(self) -> None:
        """Leave the sandbox as it is; what waits for it here is told that it is lost."""
        self._closed = True
        await self.quota.close()
        async with self._linking:
            await self._unlink()

    async def _unlink(self) -> None:
        link, self._link = self._link, None
        if link is not None:
            await link.close()

    async def _measured(self) -> int | None:
        key = call_key(secrets.token_hex(16))
        return disk.total_of(await self.use(lambda link: link.commands.run(disk.INSIDE, key, None)))

    async def _kill(self, key: str, why: str) -> None:
        with suppress(SandboxLost, TimeoutError):
            async with asyncio.timeout(KILL_SECONDS):
                await self.use(lambda link: link.commands.kill(key, why))

    @asynccontextmanager
    async def _forward(self, port: int) -> AsyncIterator[int]:
        link = await self.ready()
        async with AsyncExitStack() as owned:
            try:
                local_port = await owned.enter_async_context(link.connection.forward(port))
            except LINK_ERRORS as error:
                raise SandboxLost(f"no forward to port {port} of {self._lease.sandbox_id}: {error}") from error
            yield local_port


class LinkedFiles:
    """The files of an open sandbox."""

    def __init__(self, sandbox: OpenSandbox) -> None:
        self._sandbox = sandbox

    async def read(self, path: str, *, max_bytes: int) -> bytes:
        return await self._sandbox.use(lambda link: link.files.read(path, max_bytes))

    async def write(self, path: str, content: bytes) -> None:
        await self._sandbox.quota.permit_write()
        await self._sandbox.use(lambda link: link.files.write(path, content))

    async def list(self, path: str) -> Sequence[FileEntry]:
        return await self._sandbox.use(lambda link: link.files.list(path))


def call_key(call_id: str) -> str:
    """A name that is safe in paths and shell words."""
    return hashlib.sha256(call_id.encode("utf-8", "surrogatepass")).hexdigest()[:32]
