"""The agent: runs commands and keeps files for the host, as the one process that lives as long as the sandbox.

It runs under whatever Python the sandbox has, so it keeps to old syntax and the standard library; and it starts before
anything else can, so it imports as little as it may.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # what `signal` wraps into enums, which takes 18 ms under gVisor
import ctypes
import marshal
import os

from sandbox.inside.asked import Asked
from sandbox.inside.calls import Calls
from sandbox.inside.files import Listing, Reading, Writing
from sandbox.inside.link import Channel, Link
from sandbox.inside.loop import Loop
from sandbox.inside.places import Refused, complaint
from sandbox.inside.shells import Shell
from sandbox.inside.spawning import ALL_SIGNALS, NotStarted
from sandbox.inside.way_out import WayOut, connected
from sandbox.inside.wire import EVENT, REPLY, VERSION, Garbage, packed, unpacked
from sandbox.inside.words import said

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

NAME = b"asos-agent"
SIGCHLD, SIGSEGV = 17, 11
CRASHES = (4, 5, 6, 7, 8, SIGSEGV)
PR_SET_DUMPABLE, PR_SET_NAME = 4, 15
ARGUMENTS = slice(45, 47)
"""Where /proc/self/stat, counted from the state on, says which memory holds the command line."""


class Agent:
    """Does what the host asks."""

    def __init__(self) -> None:
        self.loop = Loop()
        self.link = Link(self.loop, self._begin, self._act)
        self._calls = Calls(self.loop)
        self._way_out = WayOut(self.loop, self.link)
        self._acts: dict[str, Callable[..., None]] = {
            "ping": self._ping,
            "run": self._run,
            "kill": self._kill,
            "read": lambda number, _body, **asked: _made(Reading(self.link, number, **asked)),
            "store": lambda number, _body, **asked: _made(Writing(self.link, number, **asked)),
            "write": self._write,
            "beside": self._beside,
            "list": lambda number, _body, **asked: _made(Listing(self.link, number, **asked)),
            "artifacts": self._artifacts,
            "follow": self._follow,
            "shell": self._shell,
            "say": self._say,
            "forward": self._forward,
            "errors": self._errors,
            "program": self._program,
            "resize": self._resize,
        }

    def _begin(self) -> None:
        self._calls.forget_waiting()
        self.link.send(REPLY, 0, packed(said({"version": VERSION}).encode("ascii")))
        self._way_out.begin()

    def _act(self, number: int, payload: bytes) -> None:
        try:
            meta, body = unpacked(payload)
            asked: dict[str, Any] = marshal.loads(meta)  # noqa: S302  it comes from the host
            self._acts[asked.pop("do")](number, body, **asked)
        except (Refused, NotStarted) as error:
            self._fail(number, str(error))
        except OSError as error:
            self._fail(number, complaint(repr(error.filename or "it"), error))
        except (Garbage, KeyError, TypeError, ValueError, EOFError) as error:
            self._fail(number, f"not understood: {type(error).__name__}")

    def _fail(self, number: int, text: str) -> None:
        self.link.channels.pop(number, None)
        self.link.reply(number, said({"error": text}).encode("ascii"))

    def _ping(self, number: int, _body: bytes) -> None:
        self.link.reply(number, b"{}")

    def _run(self, number: int, body: bytes, **asked: Any) -> None:
        self._calls.run(
            Asked(**asked, stdin=body),
            lambda meta, shown: self.link.reply(number, meta, shown),
            lambda total: self.link.send(EVENT, number, total.to_bytes(8, "big")),
        )

    def _kill(self, number: int, _body: bytes, key: str) -> None:
        self.link.reply(number, said({"dead": self._calls.kill(key)}).encode("ascii"))

    def _write(self, number: int, body: bytes, path: bytes) -> None:
        writing = Writing(self.link, number, path, len(body))
        writing.take(body)
        if number in self.link.channels:
            writing.end()

    def _beside(self, number: int, _body: bytes, act: str, **asked: bytes) -> None:
        from sandbox.inside.beside import ACTS  # noqa: PLC0415  few need it

        self.link.reply(number, said(ACTS[act](**asked)).encode("ascii"))

    def _artifacts(self, number: int, _body: bytes) -> None:
        from sandbox.inside.artifacts import Artifacts  # noqa: PLC0415  hashlib takes 15 ms, and few need it

        Artifacts(self.loop, self.link, number)

    def _follow(self, number: int, _body: bytes, paths: list[bytes], digests: bool) -> None:
        from sandbox.inside.following import Following  # noqa: PLC0415  it reads more than a start needs

        Following(self.loop, self.link, number, paths, digests)

    def _shell(self, number: int, _body: bytes, **asked: Any) -> None:
        Shell(self.loop, self.link, number, Asked(**asked)).give(b"+")

    def _say(self, number: int, body: bytes, shell: int, timeout: float) -> None:
        kept: Channel | None = self.link.channels.get(shell)
        if not isinstance(kept, Shell):
            return self._fail(number, "the shell has ended")
        return kept.run(body, timeout, lambda meta, shown: self.link.reply(number, said(meta).encode("ascii"), shown))

    def _forward(self, number: int, _body: bytes, port: int) -> None:
        connected(self.loop, self.link, number, port).begin()

    def _errors(self, number: int, _body: bytes) -> None:
        from sandbox.inside.output import Output  # noqa: PLC0415  few need it

        Output(self.loop, self.link, number)

    def _program(self, number: int, _body: bytes, **asked: Any) -> None:
        from sandbox.inside.programs import Program  # noqa: PLC0415  few need it

        Program(self.loop, self.link, number, **asked)

    def _resize(self, number: int, _body: bytes, terminal: int, columns: int, rows: int) -> None:
        resize = getattr(self.link.channels.get(terminal), "resize", None)
        if resize is not None:
            resize(columns, rows)
        self.link.reply(number, b"{}")


def _made(_channel: Channel) -> None:
    """It lives on the link from now on."""


def withdraw() -> None:
    """Be nothing that other processes of the sandbox's user can look into, or end by chance."""
    for number in ALL_SIGNALS:
        if number not in (SIGCHLD, *CRASHES):
            _signal.signal(number, _signal.SIG_IGN)
    library = ctypes.CDLL(None)
    library.prctl(PR_SET_NAME, NAME, 0, 0, 0)
    with open("/proc/self/stat", "rb") as file:
        start, end = (int(word) for word in file.read().rpartition(b") ")[2].split()[ARGUMENTS])
    if end - start > len(NAME):
        # `pkill -f python` is an everyday word, and none of the processes it means is this one.
        ctypes.memset(start, 0, end - start)
        ctypes.memmove(start, NAME, len(NAME))
    library.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)


def over_stdio(early: bytes) -> None:
    """Serve the engine's stream; `early` came before there was an agent."""
    os.umask(0o022)
    os.chdir("/")
    agent = Agent()
    withdraw()
    reading, writing = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1):
        os.dup2(nothing, standard)
    agent.link.connect(reading, writing)
    if early:
        agent.link.hear(early)
    agent.loop.run()


def behind_a_door(descriptor: int) -> None:
    """Serve an inherited socket."""
    from sandbox.inside.door import Door  # noqa: PLC0415  there is but one of the two

    os.umask(0o022)
    os.chdir("/")
    agent = Agent()
    withdraw()
    Door(agent.loop, agent.link, descriptor)
    os.write(2, b"ready\n")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    agent.loop.run()
