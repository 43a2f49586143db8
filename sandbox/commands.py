"""Runs commands over one connection: at most once for each key, and known again after the host has died."""

import asyncio
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import asyncssh

from contracts.sandbox import Captured, Command, CommandOutcome, Progress
from sandbox.calls import STREAMS, Call, Exit, Stream
from sandbox.scripts import complaint, plan, start_line
from sandbox.shell import Shell
from sandbox.transport import Connection

CALLS = "/home/agent/.asos/calls"
SHOWN_BYTES = 16_384
"""Length of head and of tail."""
TICK_SECONDS = 1.0
FIRST_POLL_SECONDS = 0.05
LAST_POLL_SECONDS = 0.5
REPLY_SECONDS = 30.0
KILL_SECONDS = 60.0
BIRTH_SECONDS = 15.0
"""After so long a claimed command that no supervisor took up never will be, if the shell that claimed it is gone."""
DRAIN_SECONDS = 0.5
"""How long output is awaited after the end; a background process may hold it open for ever."""
NOT_STARTED = Exit(code=126, killed=False, seconds=0.0)
VANISHED = Exit(code=137, killed=True, seconds=0.0)


class Commands:
    """The commands of one connection."""

    def __init__(self, connection: Connection, output_bytes: int) -> None:
        self._connection = connection
        self._output_bytes = output_bytes
        self._calls: list[Call] = []
        self._slain: dict[str, asyncio.Event] = {}
        self._starter: Shell | None = None
        self._slayer: Shell | None = None
        self._opening = asyncio.Lock()

    async def prepare(self) -> None:
        """Open both shells: a process slot for the one that kills must be taken before a command takes them all."""
        async with self._opening:
            ssh = self._connection.ssh
            if self._starter is None or self._starter.ended:
                self._starter = await Shell.opened(ssh, "/bin/sh", "starter.sh", self._hear)
            if self._slayer is None or self._slayer.ended:
                self._slayer = await Shell.opened(ssh, "/bin/bash", "slayer.sh", self._hear_slayer)

    async def close(self) -> None:
        for shell in (self._starter, self._slayer):
            if shell is not None:
                await shell.close()

    async def run(self, command: Command, key: str, progress: Progress | None) -> CommandOutcome:
        """Start it or join it. Raises: the LINK_ERRORS of the transport."""
        if problem := complaint(command):
            return _refused(problem)
        async with self._watched(key) as call, self._staged(command) as (argv, stdin):
            await self._start(call, start_line(key, self._output_bytes, stdin, command, argv))
            timed_out = await self._see_through(call, command.timeout_seconds, progress)
            await self._drain(call)
            return await self._outcome(call, timed_out)

    async def kill(self, key: str, why: str) -> None:
        """End every process of the command. Raises: the LINK_ERRORS of the transport."""
        await self.prepare()
        done = self._slain.setdefault(key, asyncio.Event())
        assert self._slayer is not None  # noqa: S101  prepare() opened it
        self._slayer.send(f"slay {key} {why}; echo slain {key}\n")
        with suppress(TimeoutError):
            async with asyncio.timeout(KILL_SECONDS):
                await done.wait()
        self._slain.pop(key, None)

    def _hear(self, line: str | None) -> None:
        if line is None:
            for call in self._calls:
                call.changed.set()
            return
        kind, key, *words = line.split(" ")
        hearers = [call for call in self._calls if call.key == key]
        if kind in ("new", "old"):
            hearers = [call for call in hearers if call.joined is None][:1]
        for call in hearers:
            call.hear(kind, words)

    def _hear_slayer(self, line: str | None) -> None:
        for key, event in self._slain.items():
            if line is None or line == f"slain {key}":
                event.set()

    @asynccontextmanager
    async def _watched(self, key: str) -> AsyncIterator[Call]:
        call = Call(key)
        self._calls.append(call)
        try:
            yield call
        finally:
            self._calls.remove(call)

    @asynccontextmanager
    async def _staged(self, command: Command) -> AsyncIterator[tuple[tuple[str, ...], str]]:
        """The argv and the path of the standard input; what is too long for a line lies in files meanwhile."""
        wanted, files = plan(command), []
        argv, stdin = wanted.argv, "/dev/null"
        try:
            if wanted.text is not None:
                files.append(await self._stage(wanted.text))
                argv = (*argv, files[-1])
            if command.stdin:
                files.append(stdin := await self._stage(command.stdin))
            yield argv, stdin
        finally:
            for path in files:
                with suppress(asyncssh.Error, OSError):
                    await self._connection.sftp.remove(path)

    async def _stage(self, content: bytes) -> str:
        path = f"{CALLS}/in.{secrets.token_hex(8)}"
        async with self._connection.sftp.open(path, "wb") as file:
            await file.write(content)
        return path

    async def _start(self, call: Call, line: str) -> None:
        await self.prepare()
        starter = self._starter
        assert starter is not None  # noqa: S101  prepare() opened it
        starter.send(line)
        async with asyncio.timeout(REPLY_SECONDS):
            while call.joined is None:
                if starter.ended:
                    raise ConnectionResetError("the sandbox's shell ended before it answered")
                await _news(call, TICK_SECONDS)

    async def _see_through(self, call: Call, timeout_seconds: float, progress: Progress | None) -> bool:
        """Wait for the end, or make it at the time-out; gives whether it was that."""
        clock = asyncio.get_running_loop().time
        began, pause, timed_out = clock(), FIRST_POLL_SECONDS if call.joined else TICK_SECONDS, False
        if call.joined:
            await self._look(call, 0.0)
        deadline = began + timeout_seconds - call.running_seconds
        while call.exit is None:
            remaining = max(0.0, deadline - clock()) if not timed_out else pause
            if await _news(call, min(pause, remaining)):
                continue
            if not timed_out and clock() >= deadline:
                timed_out = True
                await self.kill(call.key, "timed_out")
            if progress is not None:
                progress(await self._seen_bytes(call))
            await self._look(call, clock() - began)
            pause = min(pause * 2, LAST_POLL_SECONDS) if call.joined else TICK_SECONDS
        return timed_out or (bool(call.joined) and call.exit.killed and await self._exists(call, "timed_out"))

    async def _look(self, call: Call, waited: float) -> None:
        """Read the files of the command, since its news go to whoever started it."""
        supervisor = (await self._text(call, "started")).splitlines()
        if words := await self._finished(call):
            call.hear("exit", words)
        elif len(supervisor) < 2:
            orphaned = call.joined or self._starter is None or self._starter.ended
            if orphaned and waited > BIRTH_SECONDS:
                call.exit = NOT_STARTED
        elif not await self._alive(supervisor[1]):
            words = await self._finished(call)
            call.exit = Exit.parsed(words) if words else VANISHED
        elif call.joined and not call.running_seconds:
            uptime = (await self._read("/proc/uptime", 64)).decode().split()[0]
            call.running_seconds = float(uptime) - float(supervisor[0])

    async def _finished(self, call: Call) -> list[str]:
        text = await self._text(call, "exit")
        return text.split() if text.endswith("\n") else []

    async def _alive(self, stat: str) -> bool:
        """Whether the process of that line of /proc still is: its number alone may be another's by now."""
        pid = stat.split(" ", 1)[0]
        now = (await self._read(f"/proc/{pid}/stat", 1_024)).decode("utf-8", "replace")
        return now.rpartition(") ")[2].split()[19:20] == stat.rpartition(") ")[2].split()[19:20]

    async def _drain(self, call: Call) -> None:
        clock = asyncio.get_running_loop().time
        until = clock() + DRAIN_SECONDS
        while not call.drained and clock() < until:
            await _news(call, FIRST_POLL_SECONDS)
            if call.joined:
                for stream in STREAMS:
                    text = await self._text(call, f"{stream}.end")
                    if text.endswith("\n"):
                        call.hear("end", [stream, "-1", text.strip()])

    async def _outcome(self, call: Call, timed_out: bool) -> CommandOutcome:
        exit_ = call.exit or VANISHED
        stdout, stderr = await asyncio.gather(*(self._captured(call, stream) for stream in STREAMS))
        if exit_ is NOT_STARTED:
            stderr = _shown(b"the sandbox could not start another process\n")
        return CommandOutcome(
            exit_code=None if timed_out or exit_.signal_name else exit_.code,
            signal=exit_.signal_name,
            timed_out=timed_out,
            stdout=stdout,
            stderr=stderr,
            seconds=exit_.seconds,
            joined=bool(call.joined),
        )

    async def _captured(self, call: Call, stream: Stream) -> Captured:
        end = call.ends.get(stream)
        dropped = end.dropped if end else 0
        if end and end.kept == 0 and not dropped:
            return Captured()
        path = f"{CALLS}/{call.key}.{stream}"
        try:
            async with self._connection.sftp.open(path, "rb") as file:
                kept = int((await file.stat()).size or 0)
                head = _bytes(await file.read(SHOWN_BYTES, 0))
                tail = b""
                if kept > SHOWN_BYTES:
                    tail = _bytes(await file.read(SHOWN_BYTES, max(SHOWN_BYTES, kept - SHOWN_BYTES)))
        except asyncssh.SFTPNoSuchFile:
            return Captured()
        if dropped:
            tail = (tail + await self._read(f"{path}.tail", SHOWN_BYTES))[-SHOWN_BYTES:]
        return Captured(
            head=head,
            tail=tail,
            total_bytes=kept + dropped,
            path=path if kept + dropped > 2 * SHOWN_BYTES else None,
            clipped=dropped > 0,
        )

    async def _seen_bytes(self, call: Call) -> int:
        total = 0
        for stream in STREAMS:
            with suppress(asyncssh.SFTPNoSuchFile):
                total += (await self._connection.sftp.stat(f"{CALLS}/{call.key}.{stream}")).size or 0
        return total

    async def _exists(self, call: Call, suffix: str) -> bool:
        return await self._connection.sftp.exists(f"{CALLS}/{call.key}.{suffix}")

    async def _text(self, call: Call, suffix: str) -> str:
        return (await self._read(f"{CALLS}/{call.key}.{suffix}", 4_096)).decode("utf-8", "replace")

    async def _read(self, path: str, size: int) -> bytes:
        """The beginning of a small file, empty if there is none."""
        try:
            async with self._connection.sftp.open(path, "rb") as file:
                return _bytes(await file.read(size, 0))
        except (asyncssh.SFTPNoSuchFile, asyncssh.SFTPFailure):
            return b""


async def _news(call: Call, seconds: float) -> bool:
    """Whether something was heard within that time."""
    try:
        async with asyncio.timeout(seconds):
            await call.changed.wait()
    except TimeoutError:
        return False
    finally:
        call.changed.clear()
    return True


def _bytes(content: str | bytes) -> bytes:
    """asyncssh types what it reads by the mode of the file, which its type does not tell."""
    return content.encode() if isinstance(content, str) else content


def _shown(text: bytes) -> Captured:
    return Captured(head=text, total_bytes=len(text))


def _refused(problem: str) -> CommandOutcome:
    return CommandOutcome(exit_code=126, stderr=_shown(f"{problem}\n".encode()))
