"""Sandboxes without any engine: bubblewrap namespaces around the machine's own programs."""

import asyncio
import json
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

import psutil

from contracts.language import Language
from contracts.sandbox import SandboxLost, SandboxUnavailable
from contracts.texts import limits as limit_texts
from contracts.texts import sandbox as texts
from sandbox import cgroups
from sandbox.bubbles import LASTING, Bubble, Folder, arguments, outside_uid
from sandbox.disk import used_bytes
from sandbox.driver import Attached, Found, Spec, Strain, Unsupported
from sandbox.leftovers import MARK, Belonging, end_process, marked_processes
from sandbox.snapshots.folder_tree import FolderTree
from sandbox.snapshots.tree import Tree

RUNTIME = "bwrap"
IMAGE = "machine"
"""There is but one image: what is installed on the machine."""

READY_SECONDS = 20.0
CONNECT_SECONDS = 10.0
GONE_SECONDS = 10.0
STOP_SECONDS = 10.0
READY = b"ready\n"


class Driver:
    """Sandboxes of one state folder."""

    name = "bubblewrap"

    def __init__(self, *, state_dir: Path, runtime: str = "auto", language: Language = "en") -> None:
        self._runtime = runtime
        self._root = state_dir / "bubblewrap"
        self._language: Language = language

    async def resolve_image(self, image: str | None) -> str:
        return IMAGE

    async def create(self, spec: Spec) -> Found:
        for runtime in (spec.runtime, self._runtime):
            if runtime not in ("", "auto", RUNTIME):
                raise SandboxUnavailable(limit_texts.RUNTIME_NEEDS_ENGINE.say(self._language, runtime=runtime))
        for program, package in missing():
            raise SandboxUnavailable(texts.PROGRAM_ABSENT.say(self._language, program=program, package=package))
        try:
            return await asyncio.to_thread(self._create, spec)
        except (OSError, subprocess.SubprocessError) as error:
            raise SandboxUnavailable(texts.BUBBLEWRAP_FAILED.say(self._language, cause=error)) from error

    async def find(self, sandbox_id: str) -> Found | None:
        return await asyncio.to_thread(self._find, sandbox_id)

    async def owned(self, owner: str) -> Sequence[Found]:
        return await asyncio.to_thread(self._owned, owner)

    async def agent(self, sandbox_id: str) -> Attached:
        stream = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            stream.setblocking(False)
            with self._folder(sandbox_id).opened() as descriptor:
                async with asyncio.timeout(CONNECT_SECONDS):
                    await asyncio.get_running_loop().sock_connect(stream, f"/proc/self/fd/{descriptor}/socket")
        except (OSError, TimeoutError) as error:
            stream.close()
            raise SandboxLost(f"nothing listens for {sandbox_id}: {error}") from error
        except BaseException:
            stream.close()
            raise
        return Attached(socket=stream)

    async def pause(self, sandbox_id: str) -> None:
        await asyncio.to_thread(self._signal_all, sandbox_id, signal.SIGSTOP)

    async def resume(self, sandbox_id: str) -> None:
        await asyncio.to_thread(self._signal_all, sandbox_id, signal.SIGCONT)

    async def trees(self, sandbox_id: str) -> Mapping[str, Tree]:
        return await self._folder_trees(sandbox_id)

    async def disk_bytes(self, sandbox_id: str) -> int | None:
        return await asyncio.to_thread(self._disk_bytes, sandbox_id)

    async def strain(self, sandbox_id: str) -> Strain:
        group = cgroups.named(sandbox_id)
        return await asyncio.to_thread(group.strain) if group else Strain()

    async def checkpoint(self, sandbox_id: str, into: Path) -> None:
        raise Unsupported(f"bubblewrap keeps no processes of {sandbox_id}")

    async def ended(self, sandbox_id: str, seconds: float) -> bool:
        raise Unsupported(f"bubblewrap keeps no processes of {sandbox_id}")

    async def restart(
        self, spec: Spec, checkpoint: Path, fill: Callable[[Mapping[str, Tree]], Awaitable[None]]
    ) -> Found:
        raise Unsupported(f"bubblewrap brings back no processes of {spec.sandbox_id}")

    async def belongings(self, owner: str) -> Sequence[Belonging]:
        return await asyncio.to_thread(self._belongings, owner)

    async def discard(self, belonging: Belonging) -> None:
        await asyncio.to_thread(end_process, belonging)

    async def destroy(self, sandbox_id: str) -> None:
        try:
            await asyncio.to_thread(self._destroy, sandbox_id)
        except OSError as error:
            raise SandboxUnavailable(f"{sandbox_id} could not be removed: {error}") from error

    async def close(self) -> None:
        """Nothing is held open between calls."""

    async def _folder_trees(self, sandbox_id: str) -> dict[str, FolderTree]:
        folder, uid = self._folder(sandbox_id).path, outside_uid(sandbox_id)
        if not await asyncio.to_thread(folder.is_dir):
            raise SandboxLost(f"the sandbox {sandbox_id} is gone")
        return {name: FolderTree(folder / name, uid=uid) for name in LASTING}

    def _folder(self, sandbox_id: str) -> Folder:
        return Folder(self._root / sandbox_id)

    def _create(self, spec: Spec) -> Found:
        found = self._find(spec.sandbox_id)
        if found is not None and found.state != "dead":
            return found
        folder = self._folder(spec.sandbox_id)
        folder.make(outside_uid(spec.sandbox_id))
        bubble = Bubble(spec.owner)
        folder.write(bubble)
        folder.write(bubble.running(self._started(folder, spec)))
        return Found(spec.sandbox_id, spec.owner, spec.image or IMAGE, RUNTIME, state="running")

    def _disk_bytes(self, sandbox_id: str) -> int | None:
        folder = self._folder(sandbox_id)
        if not folder.path.is_dir():
            raise SandboxLost(f"the sandbox {sandbox_id} is gone")
        bubble = folder.read()
        process = bubble.process() if bubble else None
        processes = [one.pid for one in _tree(process)] if process else []
        return used_bytes([folder.path / "home", folder.path / "workspace"], processes)

    def _started(self, folder: Folder, spec: Spec) -> int:
        """Start it detached from this process, and give the number of its first process."""
        uid, group = outside_uid(spec.sandbox_id), cgroups.make(spec.sandbox_id, spec.limits)
        with folder.listening() as listener, _pipe() as (facts, facts_in), _pipe() as (errors, errors_in):
            command, descriptors = arguments(folder, uid, listener.fileno(), facts_in, spec.limits)
            try:
                subprocess.run(  # noqa: S603  every word is ours
                    ["setsid", "--fork", *(group.entering(command) if group else command)],  # noqa: S607  found by the search path like bwrap itself
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=errors_in,
                    pass_fds=(listener.fileno(), facts_in, *descriptors),
                    env={"PATH": os.defpath, MARK: spec.sandbox_id},
                    timeout=READY_SECONDS,
                    check=True,
                )
            finally:
                for descriptor in (facts_in, errors_in, *descriptors):
                    os.close(descriptor)
            said = _read_until(errors, lambda text: text.endswith(READY))
            if not said.endswith(READY):
                raise OSError(said.decode("utf-8", "replace").strip() or "it ended at once")
            return int(json.loads(_read_until(facts, lambda text: text.rstrip().endswith(b"}")))["child-pid"])

    def _find(self, sandbox_id: str) -> Found | None:
        folder = self._folder(sandbox_id)
        if not folder.path.is_dir():
            return None
        bubble = folder.read()
        if bubble is None:
            return Found(sandbox_id, "", IMAGE, RUNTIME, state="dead")
        process = bubble.process()
        state = "dead" if process is None else "paused" if process.status() == psutil.STATUS_STOPPED else "running"
        cause = _cause(sandbox_id) if process is None else ""
        return Found(sandbox_id, bubble.owner, IMAGE, RUNTIME, state=state, cause=cause)  # type: ignore[arg-type]  # the three words above

    def _owned(self, owner: str) -> list[Found]:
        if not self._root.is_dir():
            return []
        found = (self._find(path.name) for path in self._root.iterdir())
        return [one for one in found if one is not None and one.owner in (owner, "")]

    def _belongings(self, owner: str) -> list[Belonging]:
        found = self._owned(owner)
        return [
            *(Belonging("sandboxes", one.sandbox_id, one.sandbox_id) for one in found if one.state != "dead"),
            *(Belonging("folders", str(self._folder(one.sandbox_id).path), one.sandbox_id) for one in found),
            *marked_processes(owner),
        ]

    def _signal_all(self, sandbox_id: str, number: int) -> None:
        bubble = self._folder(sandbox_id).read()
        process = bubble.process() if bubble else None
        if process is None:
            raise SandboxLost(f"the processes of {sandbox_id} are gone")
        stopping = number == signal.SIGSTOP
        until = time.monotonic() + STOP_SECONDS
        unlike = _tree(process)
        while unlike:
            for one in unlike:
                with suppress(psutil.NoSuchProcess):
                    one.send_signal(number)
            if time.monotonic() > until:
                raise SandboxLost(f"some processes of {sandbox_id} take no signal")
            time.sleep(0.01)
            unlike = [one for one in _tree(process) if _stands_still(one) is (not stopping)]

    def _destroy(self, sandbox_id: str) -> None:
        folder = self._folder(sandbox_id)
        bubble = folder.read()
        process = bubble.process() if bubble else None
        if process is not None:
            # It is the first of its process namespace: the kernel ends all others with it.
            everyone = _tree(process)
            with suppress(psutil.NoSuchProcess):
                process.kill()
            psutil.wait_procs(everyone, timeout=GONE_SECONDS)
        if (group := cgroups.named(sandbox_id)) is not None:
            group.end()  # whatever the folder knows: it may be damaged
            group.remove()
        folder.remove()


def _cause(sandbox_id: str) -> str:
    group = cgroups.named(sandbox_id)
    return "memory" if group and group.strain().memory_kills else ""


def _tree(process: psutil.Process) -> list[psutil.Process]:
    """The first process and all below it; orphans become its children."""
    return [process, *process.children(recursive=True)]


def _stands_still(process: psutil.Process) -> bool | None:
    """None for one that has ended."""
    try:
        status = process.status()
        if status == psutil.STATUS_DISK_SLEEP:
            # It starts a program by vfork, and takes no signal until that has begun, which a stopped one does not.
            return any(_stands_still(child) for child in process.children())
    except psutil.NoSuchProcess:
        return None
    return None if status == psutil.STATUS_ZOMBIE else status == psutil.STATUS_STOPPED


@contextmanager
def _pipe() -> Iterator[tuple[int, int]]:
    """Both ends; the reading one is closed here, the writing one by whoever gave it away."""
    reading, writing = os.pipe()
    try:
        yield reading, writing
    finally:
        os.close(reading)


def _read_until(descriptor: int, enough: Callable[[bytes], bool]) -> bytes:
    text = b""
    while not enough(text) and (piece := os.read(descriptor, 4_096)):
        text += piece
    return text


def missing() -> list[tuple[str, str]]:
    """Programs that this driver needs and the machine has not: name and Debian package."""
    needed = (
        ("bwrap", "bubblewrap"),
        ("setsid", "util-linux"),
        ("/usr/bin/python3", "python3"),
        ("bash", "bash"),
    )
    return [(program, package) for program, package in needed if shutil.which(program) is None]


async def namespace_fault() -> str | None:
    """Why bubblewrap cannot make namespaces here, or None."""
    command = ["bwrap", "--unshare-all", "--ro-bind", "/", "/", "true"]
    uid = outside_uid("probe")
    run = partial(
        subprocess.run,
        command,
        capture_output=True,
        text=True,
        timeout=READY_SECONDS,
        check=False,
        user=uid,
        group=uid,
        extra_groups=[] if uid is not None else None,
        cwd="/",
    )
    done = await asyncio.to_thread(run)
    return (done.stderr.strip() or f"exit code {done.returncode}") if done.returncode else None
