"""Keep what a path was before the file tool changes it, and bring it back. Both happen in the sandbox alone."""

import asyncio
import posixpath
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from hashlib import sha256

from pydantic import ValidationError

from contracts.sandbox import Command, FileEntry, FileRefused, Files, Sandbox
from contracts.undo import KEPT_BYTES, KEPT_CALLS, UNDO_FOLDER, Before, Kept, Left, Undone

_CALL = re.compile(r"(\d+)\.\d+-[0-9A-Za-z]+")
_FACTS, _CONTENT = "kept.json", "content"
_FACTS_BYTES = 16_384


async def keep(sandbox: Sandbox, call_id: str, path: str, after: bytes | None) -> Before:
    """Before `path` is given this content, or is deleted. A call that is tried again keeps what it kept first.

    Raises: FileRefused if there is no room; SandboxLost.
    """
    folder = posixpath.join(UNDO_FOLDER, call_id)
    known = await _kept(sandbox.files, folder)
    if known is not None:
        return known.before
    before, content = await _before(sandbox.files, path)
    if content is not None:
        await sandbox.files.write(posixpath.join(folder, _CONTENT), content)
    facts = Kept(
        path=path, before=before, after="" if after is None else sha256(after).hexdigest(), at=datetime.now(UTC)
    )
    await sandbox.files.write(posixpath.join(folder, _FACTS), facts.model_dump_json().encode())
    await _tidy(sandbox)
    return before


async def forget(sandbox: Sandbox, call_id: str) -> None:
    """The call has changed nothing after all. Raises: SandboxLost."""
    await _remove(sandbox, [call_id])


async def undo(sandbox: Sandbox, step: int | None) -> Undone:
    """The newest change first. A path that somebody has changed since is left as it is. Raises: SandboxLost."""
    found = [(name, kept) for name in await _calls(sandbox) if (kept := await _kept(sandbox.files, _in(name)))]
    wanted = max((_step(name) for name, _ in found), default=None) if step is None else step
    those = sorted(((kept, name) for name, kept in found if _step(name) == wanted), key=lambda one: one[0].at)
    restored: list[str] = []
    left: list[Left] = []
    for kept, name in reversed(those):
        why = await _bring_back(sandbox, kept, _in(name))
        if why is None:
            restored.append(kept.path)
            await _remove(sandbox, [name])
        else:
            left.append(why)
    return Undone(step=wanted if those else None, restored=tuple(restored), left=tuple(left))


async def _before(files: Files, path: str) -> tuple[Before, bytes | None]:
    entry = await _entry(files, path)
    if entry is None:
        return "absent", None
    if entry.kind == "folder":
        return "folder", None
    if entry.kind != "file":
        return "other", None
    if entry.size > KEPT_BYTES:
        return "too_large", None
    return "file", await files.read(path, max_bytes=KEPT_BYTES)


async def _bring_back(sandbox: Sandbox, kept: Kept, folder: str) -> Left | None:
    """None if it is as it was."""
    if kept.before in ("too_large", "other"):
        return Left.model_validate({"path": kept.path, "why": kept.before})
    try:
        if await _now(sandbox.files, kept.path) != kept.after:
            return Left(path=kept.path, why="changed")
        if kept.before == "absent":
            await sandbox.run(Command(argv=("rm", "-f", "--", kept.path), timeout_seconds=60))
        elif kept.before == "folder":
            await sandbox.run(Command(argv=("mkdir", "-p", "--", kept.path), timeout_seconds=60))
        else:
            content = await sandbox.files.read(posixpath.join(folder, _CONTENT), max_bytes=KEPT_BYTES)
            await sandbox.files.write(kept.path, content)
    except FileRefused:
        return Left(path=kept.path, why="refused")
    return None


async def _now(files: Files, path: str) -> str:
    """What the path holds, as `Kept.after` tells it. Raises: FileRefused."""
    entry = await _entry(files, path)
    if entry is None:
        return ""
    digest = sha256()
    async with files.stream(path, max_bytes=max(entry.size, 1)) as pieces:
        async for piece in pieces:
            await asyncio.to_thread(digest.update, piece)
    return digest.hexdigest()


async def _entry(files: Files, path: str) -> FileEntry | None:
    folder, name = posixpath.split(path)
    try:
        entries = await files.list(folder)
    except FileRefused:
        return None
    return next((entry for entry in entries if entry.name == name), None)


async def _kept(files: Files, folder: str) -> Kept | None:
    """None also for what a program of the sandbox has put there that is nothing of ours."""
    try:
        return Kept.model_validate_json(await files.read(posixpath.join(folder, _FACTS), max_bytes=_FACTS_BYTES))
    except (FileRefused, ValidationError):
        return None


async def _calls(sandbox: Sandbox) -> list[str]:
    try:
        entries = await sandbox.files.list(UNDO_FOLDER)
    except FileRefused:
        return []
    ours = (entry for entry in entries if entry.kind == "folder" and _CALL.fullmatch(entry.name))
    return [entry.name for entry in sorted(ours, key=lambda entry: entry.modified)]


async def _tidy(sandbox: Sandbox) -> None:
    calls = await _calls(sandbox)
    await _remove(sandbox, calls[: max(0, len(calls) - KEPT_CALLS)])


async def _remove(sandbox: Sandbox, names: Sequence[str]) -> None:
    if names:
        await sandbox.run(Command(argv=("rm", "-rf", "--", *map(_in, names)), timeout_seconds=60))


def _in(name: str) -> str:
    return posixpath.join(UNDO_FOLDER, name)


def _step(name: str) -> int:
    found = _CALL.fullmatch(name)
    return int(found[1]) if found else -1
