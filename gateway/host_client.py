"""Speaks to a host about the files and terminals of its sandboxes; nothing large is ever held in memory."""

import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Self
from urllib.parse import quote, urlencode

import httpx
from pydantic import ValidationError
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus, InvalidURI

from contracts.access import (
    ARTIFACTS,
    BY_HEADER,
    ENTRIES,
    FROM_HOST,
    HOSTED,
    SIZE_HEADER,
    TAR,
    Broken,
    Exited,
    InputEnded,
    Problem,
    Resized,
    Stored,
)
from contracts.kill import Kill, LiftOrder, Stopped
from contracts.sandbox import Artifact, FileEntry, HostedSandbox, Lease
from contracts.values import Value

CONNECT_SECONDS = 10.0
SILENCE_SECONDS = 120.0
"""A host that wakes a paused sandbox, or digests a large workspace, may be silent for a while."""
PIECE_BYTES = 262_144


class HostUnreachable(Exception):
    """Raised when a host does not answer, or the connection breaks off; the text says why."""

    def __init__(self, url: str, reason: BaseException) -> None:
        super().__init__(str(reason) or type(reason).__name__)
        self.url = url


class HostRefused(Exception):
    """Raised when a host says no."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.text)
        self.problem = problem


@dataclass(frozen=True)
class Download:
    """A file, or a folder as a tar stream."""

    pieces: AsyncIterator[bytes]
    is_folder: bool
    size: int | None
    """As it was when it was asked for; unknown for folders."""


class Shell:
    """A program in the sandbox, as one speaks with it over the connection."""

    def __init__(self, socket: ClientConnection, url: str) -> None:
        self._socket = socket
        self._url = url

    async def write(self, data: bytes) -> None:
        with _ending(self._url):
            await self._socket.send(data)

    async def resize(self, columns: int, rows: int) -> None:
        with _ending(self._url):
            await self._socket.send(Resized(columns=columns, rows=rows).model_dump_json())

    async def end_input(self) -> None:
        with _ending(self._url):
            await self._socket.send(InputEnded().model_dump_json())

    async def read(self) -> tuple[int, bytes] | int:
        """A piece with the number of its stream, or the exit code. Raises: HostUnreachable, HostRefused."""
        with _ending(self._url):
            said = await self._socket.recv()
        if isinstance(said, bytes):
            return said[0], said[1:]
        match FROM_HOST.validate_json(said):
            case Exited(code=code):
                return code
            case Broken(problem=problem):
                raise HostRefused(problem)


class HostClient:
    """One host."""

    def __init__(self, url: str, token: str, by: str) -> None:
        self._url = url.rstrip("/")
        self._headers = {"Authorization": f"Bearer {token}", BY_HEADER: by}
        # The surroundings' proxies are for the world outside, not for hosts of the installation.
        self._http = httpx.AsyncClient(
            base_url=self._url,
            headers=self._headers,
            timeout=httpx.Timeout(SILENCE_SECONDS, connect=CONNECT_SECONDS),
            trust_env=False,
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._http.aclose()

    async def hosted(self) -> list[HostedSandbox]:
        """Everything that is there. Raises: HostUnreachable, HostRefused."""
        return HOSTED.validate_json(await self._got("/sandboxes", {}))

    async def open(self, lease: Lease) -> None:
        """Make sure that it can be used, and runs. Raises: HostUnreachable, HostRefused."""
        with self._reached():
            answer = await self._http.post(_path(lease, "open"), params={"epoch": lease.epoch})
        _require(answer)

    async def kill(self, kill: Kill) -> Stopped:
        """Stop what runs there. Raises: HostUnreachable, HostRefused."""
        return Stopped.model_validate_json(await self._posted("/kill", kill))

    async def lift(self, order: LiftOrder) -> None:
        """Raises: HostUnreachable, HostRefused."""
        await self._posted("/kill/lift", order)

    async def names(self, lease: Lease, path: str) -> list[FileEntry]:
        """Raises: HostUnreachable, HostRefused."""
        return ENTRIES.validate_json(await self._got(_path(lease, "list"), _file(lease, path)))

    async def artifacts(self, lease: Lease) -> list[Artifact]:
        """Raises: HostUnreachable, HostRefused."""
        return ARTIFACTS.validate_json(await self._got(_path(lease, "artifacts"), {"epoch": lease.epoch}))

    @asynccontextmanager
    async def get(self, lease: Lease, path: str) -> AsyncIterator[Download]:
        """Raises: HostUnreachable, HostRefused; also while the pieces come."""
        async with AsyncExitStack() as owned:
            with self._reached():
                asked = self._http.stream("GET", _path(lease, "files"), params=_file(lease, path))
                answer = await owned.enter_async_context(asked)
                if answer.is_error:
                    await answer.aread()
                _require(answer)
            size = answer.headers.get(SIZE_HEADER)
            is_folder = answer.headers["content-type"].startswith(TAR)
            yield Download(self._pieces(answer), is_folder, int(size) if size and not is_folder else None)

    async def put(self, lease: Lease, path: str, pieces: AsyncIterator[bytes], size: int | None) -> Stored:
        """`size` lets the host refuse at once what is too large. Raises: HostUnreachable, HostRefused."""
        headers = {} if size is None else {"Content-Length": str(size)}
        with self._reached():
            answer = await self._http.put(
                _path(lease, "files"), params=_file(lease, path), content=pieces, headers=headers
            )
        _require(answer)
        return Stored.model_validate_json(answer.content)

    @asynccontextmanager
    async def shell(self, lease: Lease, columns: int, rows: int, command: tuple[str, ...]) -> AsyncIterator[Shell]:
        """At a terminal of this size, or without columns behind plain pipes. Raises: HostUnreachable, HostRefused."""
        params = {"epoch": lease.epoch, "columns": columns, "rows": rows, "argument": command}
        address = f"ws{self._url.removeprefix('http')}{_path(lease, 'shell')}?{urlencode(params, doseq=True)}"
        try:
            socket = await connect(
                address, additional_headers=self._headers, proxy=None, open_timeout=SILENCE_SECONDS, compression=None
            )
        except InvalidStatus as error:
            raise HostRefused(_problem(bytes(error.response.body or b""), error.response.status_code)) from error
        except (InvalidHandshake, InvalidURI, OSError, TimeoutError, ssl.SSLError) as error:
            raise HostUnreachable(self._url, error) from error
        async with socket:
            yield Shell(socket, self._url)

    async def _got(self, path: str, params: dict[str, str | int]) -> bytes:
        with self._reached():
            answer = await self._http.get(path, params=params)
        _require(answer)
        return answer.content

    async def _posted(self, path: str, value: Value) -> bytes:
        with self._reached():
            json_type = {"Content-Type": "application/json"}
            answer = await self._http.post(path, content=value.model_dump_json(), headers=json_type)
        _require(answer)
        return answer.content

    async def _pieces(self, answer: httpx.Response) -> AsyncIterator[bytes]:
        with self._reached():
            async for piece in answer.aiter_raw(PIECE_BYTES):
                yield piece

    @contextmanager
    def _reached(self) -> Iterator[None]:
        try:
            yield
        except httpx.HTTPError as error:
            raise HostUnreachable(self._url, error) from error


@contextmanager
def _ending(url: str) -> Iterator[None]:
    try:
        yield
    except (ConnectionClosed, OSError) as error:
        raise HostUnreachable(url, error) from error


def _path(lease: Lease, what: str) -> str:
    return f"/sandboxes/{quote(lease.sandbox_id, safe='')}/{what}"


def _file(lease: Lease, path: str) -> dict[str, str | int]:
    return {"path": path, "epoch": lease.epoch}


def _require(answer: httpx.Response) -> None:
    if answer.is_error:
        raise HostRefused(_problem(answer.content, answer.status_code))


def _problem(body: bytes, status: int) -> Problem:
    try:
        return Problem.model_validate_json(body)
    except ValidationError:
        return Problem(code="bad_request", text=f"it answered {status}; is another program there?")
