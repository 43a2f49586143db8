"""A small honest sandbox for tests: real commands in folders of their own under bubblewrap, on plain loopback."""

import asyncio
import contextlib
import hashlib
import json
import os
import posixpath
import signal
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import sandbox.inside
from contracts.messages import HostGrant
from contracts.paths import Followed
from contracts.sandbox import (
    Artifact,
    Captured,
    Command,
    CommandOutcome,
    FileEntry,
    FileRefused,
    Lease,
    Progress,
)

HEAD = TAIL = 65_536


FOLLOW = """import json, sys
sys.path.insert(0, "/opt/asos-inside")
from sandbox.inside.following import Taking, followed, real_path
paths, digests = json.load(sys.stdin)
for path in paths:
    for name in followed(path.encode(), digests):
        if name is not None:
            taking = Taking(real_path(name), 1 << 28)
            list(taking.steps() if digests else ())
            print(json.dumps([name.decode(), real_path(name).decode(), taking.content if digests else ""]))
"""
"""The words of the real agent, without the agent."""
INSIDE = Path(sandbox.inside.__path__[0])


class LocalFiles:
    """Files below the folders that the sandbox binds."""

    def __init__(self, folders: dict[str, Path], run: Callable[[Command], Awaitable[CommandOutcome]]) -> None:
        self._folders = folders
        self._run = run

    async def follow(self, paths: Sequence[str], *, digests: bool = False) -> Sequence[Followed]:
        asked = json.dumps([list(paths), digests]).encode()
        outcome = await self._run(Command(argv=("/usr/bin/python3", "-c", FOLLOW), cwd="/", stdin=asked))
        assert outcome.exit_code == 0, outcome.stderr.head
        return [Followed(path=p, real=r, content=c) for p, r, c in map(json.loads, outcome.stdout.head.splitlines())]

    async def read(self, path: str, *, max_bytes: int) -> bytes:
        real = self._real(path)
        if not real.is_file():
            raise FileRefused(f"{path} is not a plain file")
        if real.stat().st_size > max_bytes:
            raise FileRefused(f"{path} is larger than {max_bytes} bytes")
        return real.read_bytes()

    async def write(self, path: str, content: bytes) -> None:
        real = self._real(path)
        real.parent.mkdir(parents=True, exist_ok=True)
        real.write_bytes(content)

    async def list(self, path: str) -> Sequence[FileEntry]:
        real = self._real(path)
        if not real.is_dir():
            raise FileRefused(f"{path} is not a folder")
        return [_entry(one) for one in real.iterdir()]

    @contextlib.asynccontextmanager
    async def stream(self, path: str, *, max_bytes: int) -> AsyncIterator[AsyncIterator[bytes]]:
        content = await self.read(path, max_bytes=max_bytes)

        async def pieces() -> AsyncIterator[bytes]:
            for at in range(0, len(content), 65_536):
                yield content[at : at + 65_536]

        yield pieces()

    async def store(self, path: str, pieces: AsyncIterator[bytes], *, max_bytes: int) -> int:
        content = b"".join([piece async for piece in pieces])
        if len(content) > max_bytes:
            raise FileRefused(f"{path} would be larger than {max_bytes} bytes")
        await self.write(path, content)
        return len(content)

    async def artifacts(self) -> Sequence[Artifact]:
        root = self._folders["/workspace"]
        return [_artifact(one, root) for one in sorted(root.rglob("*")) if one.is_file() and not one.is_symlink()]

    def _real(self, path: str) -> Path:
        whole = posixpath.normpath(posixpath.join("/workspace", path))
        for inside, outside in self._folders.items():
            if whole == inside or whole.startswith(inside + "/"):
                real = outside / whole[len(inside) :].lstrip("/")
                if real.resolve().is_relative_to(outside.resolve()):
                    return real
        raise FileRefused(f"{path} is outside of the workspace")


class LocalSandbox:
    """Satisfies contracts.sandbox.Sandbox."""

    def __init__(self, root: Path, lease: Lease) -> None:
        self._folders = {"/workspace": root / "workspace", "/home/agent": root / "home", "/tmp": root / "tmp"}
        for folder in self._folders.values():
            folder.mkdir(parents=True)
        self._lease = lease
        self._calls: dict[str, asyncio.Task[CommandOutcome]] = {}
        self.permitted: list[HostGrant] = []
        self.commands: list[Command] = []
        self.hidden: tuple[str, ...] = ()
        """Programs that this sandbox is to be without."""

    @property
    def lease(self) -> Lease:
        return self._lease

    @property
    def files(self) -> LocalFiles:
        return LocalFiles(self._folders, lambda command: self._run(command, None))

    @property
    def workspace(self) -> Path:
        return self._folders["/workspace"]

    async def run(self, command: Command, progress: Progress | None = None) -> CommandOutcome:
        if command.call_id is None:
            return await self._run(command, progress)
        joined = command.call_id in self._calls
        if not joined:
            self._calls[command.call_id] = asyncio.create_task(self._run(command, progress))
        outcome = await self._calls[command.call_id]
        return outcome.model_copy(update={"joined": joined})

    async def _run(self, command: Command, progress: Progress | None) -> CommandOutcome:
        self.commands.append(command)
        started = time.monotonic()
        argv = ("env", "--", *(command.argv or ("bash", "-c", command.script or "")))
        if any(path.endswith(f"/{argv[2]}") for path in self.hidden):
            argv = ("sh", "-c", "exit 127")  # what env says of a program that is not there
        with (
            tempfile.TemporaryFile() as given,
            tempfile.NamedTemporaryFile() as out,
            tempfile.NamedTemporaryFile() as err,
        ):
            given.write(command.stdin)
            given.seek(0)
            process = await asyncio.create_subprocess_exec(
                *self._bwrap(command), *argv, stdin=given, stdout=out, stderr=err, start_new_session=True
            )
            timed_out = False
            try:
                async with asyncio.timeout(command.timeout_seconds):
                    await _ended(process, progress)
            except TimeoutError:
                timed_out = True
            finally:
                if process.returncode is None:
                    os.killpg(process.pid, signal.SIGKILL)
                    await process.wait()
            killed = timed_out or (process.returncode or 0) < 0
            return CommandOutcome(
                exit_code=None if killed else process.returncode,
                timed_out=timed_out,
                stdout=self._captured(Path(out.name), command, "stdout"),
                stderr=self._captured(Path(err.name), command, "stderr"),
                seconds=time.monotonic() - started,
            )

    def _bwrap(self, command: Command) -> list[str]:
        options = ["bwrap", "--clearenv", "--proc", "/proc", "--dev", "/dev", "--perms", "1777", "--tmpfs", "/dev/shm"]
        for name in ("usr", "etc", "bin", "sbin", "lib", "lib64"):
            options += ["--ro-bind", f"/{name}", f"/{name}"]
        for inside, outside in self._folders.items():
            options += ["--bind", str(outside), inside]
        options += ["--ro-bind", str(INSIDE), "/opt/asos-inside/sandbox/inside"]
        for program in self.hidden:
            options += ["--ro-bind", "/dev/null", program]
        environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/home/agent", "LANG": "C.UTF-8", **command.env}
        for name, value in environment.items():
            options += ["--setenv", name, value]
        return [*options, "--chdir", command.cwd]

    def _captured(self, path: Path, command: Command, stream: str) -> Captured:
        content = path.read_bytes()
        if len(content) <= HEAD + TAIL:
            return Captured(head=content, total_bytes=len(content))
        kept = f"/tmp/output-{command.call_id or len(self.commands)}-{stream}"
        (self._folders["/tmp"] / posixpath.basename(kept)).write_bytes(content)
        return Captured(head=content[:HEAD], tail=content[-TAIL:], total_bytes=len(content), path=kept)

    def forward(self, port: int) -> AbstractAsyncContextManager[int]:
        return _same(port)

    def permit(self, egress: Sequence[HostGrant], role: str = "") -> None:
        self.permitted.extend(egress)

    async def close(self) -> None:
        """End the browser that a tool may have left running, as the end of a real sandbox does."""
        pid = self._folders["/home/agent"] / ".cache/asos-browser/pid"
        if pid.is_file():
            with contextlib.suppress(ProcessLookupError):
                os.killpg(int(pid.read_text()), signal.SIGKILL)


@contextlib.asynccontextmanager
async def _same(port: int) -> AsyncIterator[int]:
    yield port


async def _ended(process: asyncio.subprocess.Process, progress: Progress | None) -> None:
    while process.returncode is None:
        if progress is not None:
            progress(0)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(asyncio.shield(process.wait()), 0.5)


def _artifact(path: Path, root: Path) -> Artifact:
    status, digest = path.stat(), hashlib.sha256(path.read_bytes()).hexdigest()
    return Artifact(path=str(path.relative_to(root)), size=status.st_size, modified=status.st_mtime, sha256=digest)


def _entry(path: Path) -> FileEntry:
    status = path.lstat()
    kind = "link" if path.is_symlink() else "folder" if path.is_dir() else "file" if path.is_file() else "other"
    return FileEntry(name=path.name, kind=kind, size=status.st_size, modified=status.st_mtime)
