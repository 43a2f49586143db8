"""A tree that only the engine can reach, read and filled as one stream of its archive format.

The stream says nothing by which an unchanged file could be told, so everything is read each time; what the store has
already is still not stored again.
"""

import asyncio
import io
import os
import tarfile
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator, Iterator, Sequence
from contextlib import aclosing, closing, suppress
from functools import partial
from typing import IO, Any

import docker
from requests.exceptions import RequestException

from contracts.sandbox import SandboxUnavailable
from sandbox.engine import Engine
from sandbox.snapshots.filling import checked
from sandbox.snapshots.folder_tree import batch_of
from sandbox.snapshots.threads import ahead, apart, in_thread
from sandbox.snapshots.tree import PIECE_BYTES, Node, NodeKind, Part, TreeUnfilled, TreeUnreadable, Wanted
from sandbox.snapshots.walking import PERMISSIONS, Bounds

CHUNK_BYTES = 256 * 1024
ZEROS = bytes(PIECE_BYTES)
MOST_HOLES = 16 * 1024**3
KINDS: dict[bytes, NodeKind] = {
    tarfile.DIRTYPE: "folder",
    tarfile.SYMTYPE: "link",
    tarfile.LNKTYPE: "twin",
    tarfile.REGTYPE: "file",
}
TYPES = {kind: type_ for type_, kind in KINDS.items()}


class ArchiveTree:
    """Satisfies sandbox.snapshots.tree.Tree. The container may run, be paused, or not be started yet."""

    def __init__(self, engine: Engine, container: str, volume: str, mount: str, uid: int) -> None:
        self._engine = engine
        self._container = container
        self._volume = volume
        self._mount = mount
        self._uid = uid

    async def read(self, wanted: Wanted) -> AsyncGenerator[Sequence[Part], None]:
        try:
            chunks, _ = await self._engine.ask(
                lambda client: client.get_archive(self._container, self._mount, chunk_size=CHUNK_BYTES)
            )
        except (docker.errors.NotFound, SandboxUnavailable) as error:
            raise TreeUnreadable(f"the engine does not give {self._mount} of {self._container}: {error}") from error
        parts = _parts(io.BufferedReader(_Reader(chunks), CHUNK_BYTES), wanted, Bounds())
        try:
            async with aclosing(ahead(lambda: batch_of(parts))) as batches:
                async for batch in batches:
                    yield batch
        except tarfile.TarError as error:
            raise TreeUnreadable(f"the engine broke off {self._mount} of {self._container}: {error}") from error
        finally:
            await in_thread(parts.close)

    async def fill(self, parts: AsyncIterator[Sequence[Part]]) -> None:
        await self._ask(partial(_emptied, self._container, self._volume, self._mount))
        reading, writing = os.pipe()
        with os.fdopen(reading, "rb") as source, os.fdopen(writing, "wb") as sink:
            sending = asyncio.ensure_future(self._sent(source))
            try:
                archive = _Archive(sink, self._uid)
                async for batch in parts:
                    await in_thread(archive.take, batch)
                await in_thread(archive.finish)
            except BrokenPipeError:
                await sending  # the engine's own error says more
                raise
            finally:
                with suppress(BrokenPipeError):
                    sink.close()
                await asyncio.gather(sending, return_exceptions=True)
            await sending

    async def _sent(self, source: IO[bytes]) -> None:
        """Reads to the end what is written into the pipe meanwhile."""

        def send() -> None:
            with source:
                chunks = iter(lambda: source.read(CHUNK_BYTES), b"")
                self._engine.client().put_archive(self._container, self._mount, chunks)

        try:
            await apart(send)
        except (docker.errors.DockerException, RequestException) as error:
            raise TreeUnfilled(f"{self._mount} of {self._container} cannot be filled: {error}") from error

    async def _ask(self, question: Callable[[docker.APIClient], None]) -> None:
        try:
            await self._engine.ask(question)
        except (docker.errors.NotFound, SandboxUnavailable) as error:
            raise TreeUnfilled(f"{self._mount} of {self._container} cannot be filled: {error}") from error


class _Reader(io.RawIOBase):
    """The chunks of a response as a file that can only be read forward."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._rest = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self._rest = self._rest or next(self._chunks, b"")
        length = min(len(buffer), len(self._rest))
        buffer[:length], self._rest = self._rest[:length], self._rest[length:]
        return length


def _parts(stream: IO[bytes], wanted: Wanted, bounds: Bounds) -> Generator[Part, None, None]:
    read = 0
    with tarfile.open(None, "r|", stream, errors="surrogateescape") as archive:
        for number, member in enumerate(archive):
            if number > bounds.names:
                raise TreeUnreadable(f"there are more than {bounds.names} names, the last of them {member.name!r}")
            if (node := _node(member)) is None:
                continue
            if node.size > bounds.file_bytes:
                raise TreeUnreadable(f"{node.path!r} says that it has {node.size} bytes")
            if node.kind != "file" or not wanted(node):
                yield Part(node)
                continue
            for part in _content(archive, member, node):
                read += len(part.content)
                if read > bounds.read_bytes:
                    raise TreeUnreadable(f"up to {node.path!r} there are more than {bounds.read_bytes} bytes")
                yield part


def _content(archive: tarfile.TarFile, member: tarfile.TarInfo, node: Node) -> Iterator[Part]:
    yield Part(node)
    content = archive.extractfile(member)
    if content is None:
        return
    with closing(content):
        while piece := content.read(PIECE_BYTES):
            zeros = piece == (ZEROS if len(piece) == PIECE_BYTES else ZEROS[: len(piece)])
            yield Part(hole=len(piece)) if zeros else Part(content=piece)


def _node(member: tarfile.TarInfo) -> Node | None:
    """Names begin with that of the folder that was asked for."""
    path = member.name.partition("/")[2]
    kind = KINDS.get(member.type)
    if not path or kind is None:
        return None
    target = member.linkname.partition("/")[2] if kind == "twin" else member.linkname
    return Node(
        path=checked(path),
        kind=kind,
        mode=member.mode & PERMISSIONS,
        size=member.size if kind == "file" else 0,
        mtime_ns=int(member.mtime * 1_000_000_000),
        target=target,
    )


class _Archive:
    """Writes parts as an archive. Used by one thread at a time."""

    def __init__(self, sink: IO[bytes], uid: int) -> None:
        self._sink = sink
        self._uid = uid
        self._written = 0
        self._holes = 0

    def take(self, parts: Sequence[Part]) -> None:
        for part in parts:
            if part.node is not None:
                self._pad()
                self._sink.write(self._header(part.node))
            self._write(part.content)
            self._holes += part.hole
            if self._holes > MOST_HOLES:
                raise TreeUnfilled(f"the holes of files would be written out, and are more than {MOST_HOLES} bytes")
            for place in range(0, part.hole, len(ZEROS)):
                self._write(ZEROS[: min(len(ZEROS), part.hole - place)])

    def finish(self) -> None:
        self._pad()
        self._sink.write(bytes(2 * tarfile.BLOCKSIZE))
        self._sink.close()

    def _header(self, node: Node) -> bytes:
        info = tarfile.TarInfo(checked(node.path))
        info.type = TYPES[node.kind]
        info.mode = node.mode
        info.size = node.size if node.kind == "file" else 0
        info.mtime = node.mtime_ns // 1_000_000_000
        info.uid = info.gid = self._uid
        info.linkname = checked(node.target) if node.kind == "twin" else node.target
        info.pax_headers = {"mtime": f"{node.mtime_ns / 1_000_000_000:.9f}"}
        return info.tobuf(tarfile.PAX_FORMAT, "utf-8", "surrogateescape")

    def _write(self, content: bytes) -> None:
        self._sink.write(content)
        self._written += len(content)

    def _pad(self) -> None:
        self._sink.write(bytes(-self._written % tarfile.BLOCKSIZE))
        self._written = 0


def _emptied(container: str, volume: str, mount: str, client: docker.APIClient) -> None:
    """Archives only add. A short-lived container of the sandbox's own image removes what is there: the sandbox itself
    need not run, and whatever runs in it is not asked."""
    image = client.inspect_container(container)["Image"]
    settings = client.create_host_config(
        binds={volume: {"bind": mount, "mode": "rw"}},
        network_mode="none",
        read_only=True,
        cap_drop=["ALL"],
        cap_add=["DAC_OVERRIDE", "FOWNER"],
        security_opt=["no-new-privileges"],
        log_config=docker.types.LogConfig(type="none"),
    )
    command = ["find", mount, "-mindepth", "1", "-delete"]
    made = client.create_container(image, command=command, entrypoint=[], user="0", host_config=settings)["Id"]
    try:
        client.start(made)
        code = client.wait(made)["StatusCode"]
    finally:
        client.remove_container(made, force=True)
    if code:
        raise OSError(f"emptying {mount} ended with code {code}")
