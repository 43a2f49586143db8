"""What an engine must give; everything else is built on the byte stream."""

import socket
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

from sandbox.leftovers import Belonging
from sandbox.limits import Limits
from sandbox.snapshots.tree import Tree


class Unsupported(Exception):
    """Raised when an engine cannot do what was asked at all; the text names the engine and the operation."""


@dataclass(frozen=True)
class Spec:
    """The sandbox that is wanted. The same `sandbox_id` names the same sandbox."""

    sandbox_id: str
    owner: str
    """Who may list and remove it: one host of one installation."""
    image: str
    runtime: str = ""
    """Empty takes the driver's own choice."""
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True)
class Found:
    """A sandbox as the engine knows it."""

    sandbox_id: str
    owner: str
    image: str
    runtime: str
    state: Literal["running", "paused", "dead"]
    cause: str = ""
    """Why it is dead, if the engine knows: `memory` if the kernel ended it for want of memory."""


@dataclass(frozen=True)
class Strain:
    """How often the kernel has held a sandbox to its bounds since it was made; None where that cannot be read."""

    memory_kills: int | None = None
    refused_processes: int | None = None


@dataclass(frozen=True)
class Attached:
    """A connected, non-blocking socket. The receiver closes it."""

    socket: socket.socket
    framed: bool = False
    """True if the engine puts its eight-byte header before each piece of output."""
    received: bytes = b""
    """What came along with the engine's own answer."""
    preface: bytes = b""
    """What the receiver sends before all else."""


class Driver(Protocol):
    """One engine. Its calls do not block the event loop."""

    @property
    def name(self) -> str: ...

    async def resolve_image(self, image: str | None) -> str:
        """The image that a request gets. Raises: SandboxUnavailable."""
        ...

    async def create(self, spec: Spec) -> Found:
        """The sandbox of that id, made if it does not exist. Raises: SandboxUnavailable."""
        ...

    async def find(self, sandbox_id: str) -> Found | None:
        """Raises: SandboxUnavailable if the engine does not answer."""
        ...

    async def owned(self, owner: str) -> Sequence[Found]:
        """Every sandbox of this owner, dead ones and remains of half-made ones too. Raises: SandboxUnavailable."""
        ...

    async def pause(self, sandbox_id: str) -> None:
        """Freeze every process. Raises: SandboxLost."""
        ...

    async def resume(self, sandbox_id: str) -> None:
        """Raises: SandboxLost."""
        ...

    async def agent(self, sandbox_id: str) -> Attached:
        """A stream to `inside/agent.py`, which runs as long as the sandbox. Raises: SandboxLost."""
        ...

    async def trees(self, sandbox_id: str) -> Mapping[str, Tree]:
        """The folders that last (`home`, `workspace`), running, paused or dead. Raises: SandboxLost."""
        ...

    async def disk_bytes(self, sandbox_id: str) -> int | None:
        """What its lasting folders take, or None where this process cannot look. Raises: SandboxLost."""
        ...

    async def strain(self, sandbox_id: str) -> Strain:
        """Never fails: what is not known is None."""
        ...

    async def checkpoint(self, sandbox_id: str, into: Path) -> None:
        """Write the memory of all its processes into an empty folder, by which they end; its folders stay until
        `destroy`, and `ended` waits until the engine knows of the end.
        Every stream must be closed before; what came in through `attach` does not go on. A paused one is no error.
        Raises: Unsupported, SandboxBusy and SnapshotFailed, after which it is as it was; SandboxLost,
        SandboxUnavailable."""
        ...

    async def ended(self, sandbox_id: str, seconds: float) -> bool:
        """After a checkpoint: wait until the engine knows that it has no processes, and say whether it does now.
        Raises: SandboxUnavailable."""
        ...

    async def restart(
        self, spec: Spec, checkpoint: Path, fill: Callable[[Mapping[str, Tree]], Awaitable[None]]
    ) -> Found:
        """A sandbox whose processes go on where the checkpoint stopped them; `fill` puts its files in place before,
        and whatever the folder of the checkpoint does not hold yet.
        One of that id that has ended keeps its folders, and one that runs is given as it is.
        Raises: Unsupported, SnapshotUnusable, SandboxUnavailable."""
        ...

    async def belongings(self, owner: str) -> Sequence[Belonging]:
        """Every single thing of this owner, also what no sandbox is left for. Raises: SandboxUnavailable."""
        ...

    async def discard(self, belonging: Belonging) -> None:
        """Remove a thing that `destroy` leaves, having no sandbox's name; what is gone already is no error.
        Raises: SandboxUnavailable."""
        ...

    async def destroy(self, sandbox_id: str) -> None:
        """Remove it and all that belongs to it; what is gone already is no error. Raises: SandboxUnavailable."""
        ...

    async def close(self) -> None: ...
