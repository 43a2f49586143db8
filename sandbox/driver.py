"""What an engine must give; everything else is built on the byte stream."""

import socket
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol


class Unsupported(Exception):
    """Raised when an engine cannot do what was asked at all; the text names the engine and the operation."""


@dataclass(frozen=True)
class Spec:
    """The sandbox that is wanted. The same `sandbox_id` names the same sandbox."""

    sandbox_id: str
    owner: str
    """Who may list and remove it: one host of one installation."""
    task_id: str
    epoch: int
    image: str


@dataclass(frozen=True)
class Found:
    """A sandbox as the engine knows it."""

    sandbox_id: str
    owner: str
    task_id: str
    epoch: int
    image: str
    runtime: str
    state: Literal["running", "paused", "dead"]


@dataclass(frozen=True)
class Attached:
    """A connected, non-blocking socket whose far end is `inside/bootstrap.sh`. The receiver closes it."""

    socket: socket.socket
    framed: bool = False
    """True if the engine puts its eight-byte header before each piece of output."""
    received: bytes = b""
    """What came along with the engine's own answer."""


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

    async def attach(self, sandbox_id: str) -> Attached:
        """Raises: SandboxLost."""
        ...

    async def pause(self, sandbox_id: str) -> None:
        """Freeze every process. Raises: SandboxLost."""
        ...

    async def resume(self, sandbox_id: str) -> None:
        """Raises: SandboxLost."""
        ...

    async def snapshot(self, sandbox_id: str) -> str:
        """Keep its present state under the name that is returned. Raises: Unsupported, SandboxLost."""
        ...

    async def restore(self, spec: Spec, snapshot: str) -> Found:
        """A new sandbox in that state. Raises: Unsupported, SandboxUnavailable."""
        ...

    async def destroy(self, sandbox_id: str) -> None:
        """Remove it and all that belongs to it; what is gone already is no error. Raises: SandboxUnavailable."""
        ...

    async def close(self) -> None: ...
