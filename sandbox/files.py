"""Files of a sandbox over SFTP, kept to its writable folders."""

import asyncio
import posixpath
import secrets
import stat
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import cast

import asyncssh

from contracts.sandbox import FileEntry, FileRefused
from sandbox.transport import Connection

WORKSPACE = "/workspace"
WRITABLE = (WORKSPACE, "/home/agent", "/tmp")  # noqa: S108  the sandbox's own
LONGEST_LIST = 10_000
LARGEST_WRITE = 1_073_741_824
STEP_SECONDS = 30.0
"""A server stuck on one step, such as on a file swapped for a fifo, does not answer any more."""
TRANSFER_SECONDS = 600.0
KINDS = {stat.S_IFREG: "file", stat.S_IFDIR: "folder", stat.S_IFLNK: "link"}


class SftpFiles:
    """The files behind one connection."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._sftp = connection.sftp

    async def read(self, path: str, max_bytes: int) -> bytes:
        async with self._asked(path, TRANSFER_SECONDS):
            real = await self._real(path)
            facts = await self._sftp.lstat(real)
            _require_plain(path, facts)
            if (facts.size or 0) > max_bytes:
                raise FileRefused(f"{path!r} has {facts.size} bytes, more than the {max_bytes} that may be read")
            async with self._sftp.open(real, "rb", block_size=262_144) as file:
                content = cast(bytes, await file.read(max_bytes + 1))
        if len(content) > max_bytes:
            raise FileRefused(f"{path!r} grew beyond the {max_bytes} bytes that may be read")
        return content

    async def write(self, path: str, content: bytes) -> None:
        if len(content) > LARGEST_WRITE:
            raise FileRefused(f"{path!r} would have {len(content)} bytes, more than the {LARGEST_WRITE} allowed")
        async with self._asked(path, TRANSFER_SECONDS):
            target = await self._real(path)
            mode = await self._mode_of(path, target)
            await self._sftp.makedirs(posixpath.dirname(target), exist_ok=True)
            part = f"{posixpath.dirname(target)}/.asos-{secrets.token_hex(8)}"
            try:
                async with self._sftp.open(part, "xb", asyncssh.SFTPAttrs(permissions=mode)) as file:
                    await file.write(content)
                await self._sftp.chmod(part, mode)
                await self._sftp.posix_rename(part, target)
            except BaseException:
                with suppress(asyncssh.Error, OSError):
                    await self._sftp.remove(part)
                raise

    async def list(self, path: str) -> Sequence[FileEntry]:
        entries: list[FileEntry] = []
        async with self._asked(path, STEP_SECONDS):
            async for entry in self._sftp.scandir(await self._real(path)):
                name = entry.filename if isinstance(entry.filename, str) else entry.filename.decode("utf-8", "replace")
                if name in (".", ".."):
                    continue
                if len(entries) >= LONGEST_LIST:
                    raise FileRefused(f"{path!r} holds more than {LONGEST_LIST} names: list a folder below it")
                entries.append(_entry(name, entry.attrs))
        return sorted(entries, key=lambda entry: entry.name)

    async def _real(self, path: str) -> str:
        """The path without links, of which the last parts need not exist. Raises: FileRefused."""
        if not path or "\0" in path:
            raise FileRefused(f"not a path: {path!r}")
        wanted = posixpath.normpath(posixpath.join(WORKSPACE, path))
        existing, missing = wanted, ""
        while not await self._sftp.lexists(existing):
            existing, name = posixpath.split(existing)
            missing = posixpath.join(name, missing) if missing else name
        real = await self._sftp.realpath(existing)
        if await self._sftp.islink(real):
            raise FileRefused(f"{path!r} is a link that leads nowhere")
        whole = posixpath.join(real, missing) if missing else real
        if not any(whole == root or whole.startswith(f"{root}/") for root in WRITABLE):
            raise FileRefused(f"{path!r} is outside the folders {', '.join(WRITABLE)}")
        return whole

    async def _mode_of(self, path: str, target: str) -> int:
        """Mode for the new content: that of the file it replaces."""
        try:
            facts = await self._sftp.lstat(target)
        except asyncssh.SFTPNoSuchFile:
            return 0o644
        _require_plain(path, facts)
        return stat.S_IMODE(facts.permissions or 0o644) & 0o777

    @asynccontextmanager
    async def _asked(self, path: str, seconds: float) -> AsyncIterator[None]:
        """Give errors of the file system their name; a server that hangs costs the connection."""
        try:
            async with asyncio.timeout(seconds):
                yield
        except TimeoutError as error:
            self._connection.ssh.abort()
            raise FileRefused(f"{path!r} did not answer within {seconds:.0f} s") from error
        except (asyncssh.SFTPConnectionLost, asyncssh.SFTPNoConnection):
            raise
        except asyncssh.SFTPNoSuchFile as error:
            raise FileRefused(f"{path!r} does not exist") from error
        except asyncssh.SFTPError as error:
            raise FileRefused(f"{path!r}: {error.reason}") from error


def _require_plain(path: str, facts: asyncssh.SFTPAttrs) -> None:
    kind = _kind(facts)
    if kind != "file":
        raise FileRefused(f"{path!r} is not a plain file but a {kind if kind != 'other' else 'device, socket or fifo'}")


def _kind(facts: asyncssh.SFTPAttrs) -> str:
    return KINDS.get(stat.S_IFMT(facts.permissions or 0), "other")


def _entry(name: str, facts: asyncssh.SFTPAttrs) -> FileEntry:
    return FileEntry(name=name, kind=_kind(facts), size=facts.size or 0, modified=float(facts.mtime or 0))
