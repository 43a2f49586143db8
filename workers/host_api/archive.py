"""A folder of a sandbox as one tar stream, made here of lists and contents: nothing is unpacked, no link is followed.

What the sandbox says is not trusted: a name that could lead out of the folder is left out, like links, devices and what
vanished meanwhile. A last member then says what was left out, and why.
"""

import tarfile
from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import dataclass, field

from contracts.sandbox import FileEntry, FileRefused, Files

MOST_MEMBERS = 100_000
LEFT_OUT = "left-out.txt"


@dataclass
class _Bounds:
    """What is still allowed, and what was left out so far."""

    bytes_left: int
    members_left: int = MOST_MEMBERS
    left_out: list[str] = field(default_factory=list)

    def take(self, size: int) -> None:
        self.bytes_left -= size
        self.members_left -= 1
        if self.bytes_left < 0 or self.members_left < 0:
            raise FileRefused(f"the folder holds more than {MOST_MEMBERS} names, or more bytes than a sandbox may have")


async def tar_of(files: Files, folder: str, name: str, *, max_bytes: int) -> AsyncGenerator[bytes, None]:
    """Members are below `name`. Raises: FileRefused, SandboxLost."""
    bounds = _Bounds(max_bytes)
    listed = await files.list(folder)
    waiting = [(folder, name, listed)]
    yield _header(name, FileEntry(name=name, kind="folder", size=0, modified=0.0))
    while waiting:
        path, member, entries = waiting.pop()
        for entry in entries:
            below, beside = f"{path}/{entry.name}", f"{member}/{entry.name}"
            if not _is_plain(entry):
                bounds.left_out.append(f"{beside}: not a plain file or folder")
            elif entry.kind == "folder":
                bounds.take(0)
                yield _header(beside, entry)
                if (inside := await _listed(files, below, beside, bounds)) is not None:
                    waiting.append((below, beside, inside))
            else:
                bounds.take(entry.size)
                async for piece in _member(files, below, beside, entry, bounds):
                    yield piece
    if bounds.left_out:
        text = "\n".join(bounds.left_out).encode("utf-8", "replace") + b"\n"
        yield _header(f"{name}/{LEFT_OUT}", FileEntry(name=LEFT_OUT, kind="file", size=len(text), modified=0.0))
        yield text + _padding(len(text))
    yield bytes(2 * tarfile.BLOCKSIZE)


async def _listed(files: Files, path: str, member: str, bounds: _Bounds) -> list[FileEntry] | None:
    try:
        return list(await files.list(path))
    except FileRefused as error:
        bounds.left_out.append(f"{member}: {error}")
        return None


async def _member(files: Files, path: str, member: str, entry: FileEntry, bounds: _Bounds) -> AsyncIterator[bytes]:
    """The header has promised a size, which is kept whatever becomes of the file meanwhile."""
    missing = entry.size
    begun = False
    try:
        async with files.stream(path, max_bytes=bounds.bytes_left + entry.size) as pieces:
            yield _header(member, entry)
            begun = True
            async for piece in pieces:
                yield piece[:missing]
                missing -= min(missing, len(piece))
                if not missing:
                    break
    except FileRefused as error:
        bounds.left_out.append(f"{member}: {error}")
    if not begun:
        return
    if missing:
        bounds.left_out.append(f"{member}: became shorter while it was read; its end is filled with zeros")
    while missing:
        filling = min(missing, 1_048_576)
        yield bytes(filling)
        missing -= filling
    yield _padding(entry.size)


def _is_plain(entry: FileEntry) -> bool:
    return entry.kind in ("file", "folder") and entry.name not in ("", ".", "..") and not set("/\0") & set(entry.name)


def _header(member: str, entry: FileEntry) -> bytes:
    info = tarfile.TarInfo(member)
    info.type = tarfile.DIRTYPE if entry.kind == "folder" else tarfile.REGTYPE
    info.mode = 0o755 if entry.kind == "folder" else 0o644
    info.size = 0 if entry.kind == "folder" else entry.size
    info.mtime = entry.modified
    return info.tobuf(tarfile.PAX_FORMAT, "utf-8", "replace")


def _padding(size: int) -> bytes:
    return bytes(-size % tarfile.BLOCKSIZE)
