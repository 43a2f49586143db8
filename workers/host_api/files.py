"""Files of a sandbox: got and put in pieces, folders as a tar stream, and what a task has made with its digests."""

import asyncio
import posixpath
from collections.abc import AsyncIterator
from contextlib import aclosing, suppress
from typing import Annotated

from fastapi import APIRouter, Header, Query, Request
from starlette.requests import ClientDisconnect
from starlette.responses import Response

from contracts.access import BY_HEADER, SIZE_HEADER, TAR, Stored
from contracts.sandbox import Artifact, FileEntry, FileRefused, Files
from workers.host_api.archive import tar_of
from workers.host_api.doors import Doors
from workers.host_api.refusal import REFUSED
from workers.host_api.streaming import Streamed

HOME = "/workspace"
"""Where relative paths start."""
ROOTS = frozenset({HOME, "/home/agent", "/tmp"})  # noqa: S108  the sandbox's own
DRAIN_SECONDS = 5.0

Epoch = Annotated[int, Query(ge=1)]
By = Annotated[str, Header(alias=BY_HEADER)]
Where = Annotated[str, Query(max_length=4_096)]


def file_routes(doors: Doors) -> APIRouter:
    router = APIRouter(prefix="/sandboxes/{sandbox_id}")

    @router.post("/open", status_code=204)
    async def wake(sandbox_id: str, epoch: Epoch, by: By = "") -> None:
        """A paused one runs again."""
        await doors.open(sandbox_id, epoch, "sandbox_open", by, {})

    @router.get("/files")
    async def get(sandbox_id: str, path: Where, epoch: Epoch, by: By = "") -> Response:
        box = await doors.open(sandbox_id, epoch, "file_get", by, {"path": path})
        whole = posixpath.normpath(posixpath.join(HOME, path))
        entry = await _found(box.files, whole)
        if entry is not None and entry.kind == "folder":
            name = posixpath.basename(whole)
            return Streamed(aclosing(tar_of(box.files, whole, name, max_bytes=doors.max_bytes)), TAR)
        headers = {} if entry is None else {SIZE_HEADER: str(entry.size)}
        return Streamed(box.files.stream(path, max_bytes=doors.max_bytes), "application/octet-stream", headers)

    @router.put("/files")
    async def put(request: Request, sandbox_id: str, path: Where, epoch: Epoch, by: By = "") -> Stored:
        body = Body(request)
        try:
            body.require_size(doors.max_bytes)
            box = await doors.open(sandbox_id, epoch, "file_put", by, {"path": path})
            size = await box.files.store(path, body.pieces(), max_bytes=doors.max_bytes)
        except REFUSED:
            await body.drain()
            raise
        return Stored(path=path, bytes=size)

    @router.get("/list")
    async def names(sandbox_id: str, epoch: Epoch, path: Where = ".", by: By = "") -> list[FileEntry]:
        box = await doors.open(sandbox_id, epoch, "file_list", by, {"path": path})
        return list(await box.files.list(path))

    @router.get("/artifacts")
    async def artifacts(sandbox_id: str, epoch: Epoch, by: By = "") -> list[Artifact]:
        box = await doors.open(sandbox_id, epoch, "artifact_list", by, {})
        return list(await box.files.artifacts())

    return router


async def _found(files: Files, whole: str) -> FileEntry | None:
    """What a path names, if that can be told; a link is whatever it leads to."""
    if whole in ROOTS:
        return FileEntry(name=whole, kind="folder", size=0, modified=0.0)
    try:
        siblings = await files.list(posixpath.dirname(whole))
    except FileRefused:
        return None
    entry = next((each for each in siblings if each.name == posixpath.basename(whole)), None)
    return entry if entry is not None and entry.kind in ("file", "folder") else None


class Body:
    """What somebody sends."""

    def __init__(self, request: Request) -> None:
        self._request = request
        self._ended = False

    def require_size(self, max_bytes: int) -> None:
        """Raises: FileRefused if it says by itself that it is too large."""
        said = self._request.headers.get("content-length", "0")
        if int(said) > max_bytes:
            raise FileRefused(f"the file has {said} bytes, more than the {max_bytes} that a sandbox may hold")

    async def pieces(self) -> AsyncIterator[bytes]:
        """Raises: ClientDisconnect."""
        while not self._ended:
            if piece := await self._next():
                yield piece

    async def drain(self) -> None:
        """Take the rest for a while: a sender reads the answer only after it has sent all."""
        with suppress(TimeoutError, ClientDisconnect):
            async with asyncio.timeout(DRAIN_SECONDS):
                while not self._ended:
                    await self._next()

    async def _next(self) -> bytes:
        message = await self._request.receive()
        self._ended = not message.get("more_body", False)
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        piece: bytes = message.get("body", b"")
        return piece
