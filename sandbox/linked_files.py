"""The files of an open sandbox, over whatever link it has at the time."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractContextManager, AsyncExitStack, asynccontextmanager
from typing import Protocol, TypeVar

from contracts.paths import Followed
from contracts.sandbox import Artifact, FileEntry, SandboxLost
from sandbox.exchange import LinkBroken
from sandbox.files import AgentFiles

T = TypeVar("T")


class HasFiles(Protocol):
    """A link with files on it."""

    @property
    def files(self) -> AgentFiles: ...


class Using(Protocol):
    """An open sandbox, as far as its files need it."""

    async def ready(self) -> HasFiles: ...

    async def use(self, act: Callable[[HasFiles], Awaitable[T]]) -> T: ...

    def used(self) -> AbstractContextManager[None]: ...

    async def permit_write(self) -> int: ...


class LinkedFiles:
    """Satisfies contracts.sandbox.Files."""

    def __init__(self, sandbox: Using) -> None:
        self._sandbox = sandbox

    async def read(self, path: str, *, max_bytes: int) -> bytes:
        return await self._sandbox.use(lambda linked: linked.files.read(path, max_bytes))

    async def write(self, path: str, content: bytes) -> None:
        room = await self._sandbox.permit_write()
        await self._sandbox.use(lambda linked: linked.files.write(path, content, room))

    async def list(self, path: str) -> Sequence[FileEntry]:
        return await self._sandbox.use(lambda linked: linked.files.list(path))

    async def artifacts(self) -> Sequence[Artifact]:
        return await self._sandbox.use(lambda linked: linked.files.artifacts())

    async def follow(self, paths: Sequence[str], *, digests: bool = False) -> Sequence[Followed]:
        return await self._sandbox.use(lambda linked: linked.files.follow(paths, digests))

    @asynccontextmanager
    async def stream(self, path: str, *, max_bytes: int) -> AsyncIterator[AsyncIterator[bytes]]:
        with self._sandbox.used():
            async with AsyncExitStack() as owned:
                try:
                    files = (await self._sandbox.ready()).files
                    yield await owned.enter_async_context(files.stream(path, max_bytes))
                except LinkBroken as error:
                    raise SandboxLost(f"{path!r} broke off: {error}") from error

    async def store(self, path: str, pieces: AsyncIterator[bytes], *, max_bytes: int) -> int:
        room = await self._sandbox.permit_write()
        # Not tried again: what was taken from the pieces cannot be had twice.
        with self._sandbox.used():
            try:
                return await (await self._sandbox.ready()).files.store(path, pieces, min(max_bytes, room))
            except LinkBroken as error:
                raise SandboxLost(f"{path!r} broke off: {error}") from error
