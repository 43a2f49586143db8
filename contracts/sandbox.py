"""A place to work: what is leased, and the narrow seam through which tools use it."""

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from pydantic import Field

from contracts.messages import HostGrant
from contracts.values import Value


class SandboxLost(Exception):
    """Raised when the sandbox itself is gone or cannot be reached; the command's fate is then unknown."""


class SandboxUnavailable(Exception):
    """Raised when no sandbox can be made now, such as with no engine or no image; the text says the remedy."""


class FileRefused(Exception):
    """Raised when a path may not be used as asked: outside the workspace, not a plain file, too large, or missing."""


class LeaseRequest(Value):
    """Ask for the sandbox of a task; asking again gives the same one while it lives."""

    task_id: str
    user_id: str
    image: str | None = None
    """Name of a folder of sandbox_images/; None takes the configured one."""
    previous_epoch: int = 0
    """Epoch of the lease that was lost; a new lease has a higher one, and the older is refused."""
    egress: tuple[HostGrant, ...] = ()


class Lease(Value):
    """One task's right to one sandbox on one host."""

    sandbox_id: str
    task_id: str
    host_id: str
    task_queue: str
    """Where activities of this sandbox run."""
    epoch: int = Field(ge=1)
    driver: str
    runtime: str
    """Such as `runc`, `runsc` or `bwrap`."""
    image: str


class Command(Value):
    """A command for the sandbox: a script for bash, or one argv without a shell.

    With `call_id` it runs at most once however often it is asked for: a second `run` joins the first one.
    """

    script: str | None = None
    argv: tuple[str, ...] | None = None
    cwd: str = "/workspace"
    env: dict[str, str] = Field(default_factory=dict)
    stdin: bytes = b""
    timeout_seconds: float = Field(default=120.0, gt=0, le=86_400)
    call_id: str | None = None


class Captured(Value):
    """One output stream: its beginning, its end where that is apart from it, and how long it was in all (bytes)."""

    head: bytes = b""
    tail: bytes = b""
    total_bytes: int = 0
    path: str | None = None
    """Where the whole lies in the sandbox, if it is longer than head and tail together."""
    clipped: bool = False
    """True if the command wrote more than the sandbox was willing to keep."""


class CommandOutcome(Value):
    """How a command ended; any exit code is an outcome, not an exception."""

    exit_code: int | None
    """None if it was killed by a signal or by its time-out."""
    signal: str | None = None
    timed_out: bool = False
    stdout: Captured = Captured()
    stderr: Captured = Captured()
    seconds: float = 0.0
    joined: bool = False
    """True if an earlier attempt had started it and this one only waited for its end."""


class FileEntry(Value):
    """One name in a folder of the sandbox."""

    name: str
    kind: str
    """file, folder, link or other."""
    size: int
    modified: float
    """Seconds since the epoch."""


Progress = Callable[[int], None]
"""Called with the number of bytes seen so far, at least every two seconds while work goes on."""


class Files(Protocol):
    """Files of the sandbox; relative paths start at /workspace. A path that leads out of the writable folders is
    refused."""

    async def read(self, path: str, *, max_bytes: int) -> bytes:
        """Raises: FileRefused, SandboxLost."""
        ...

    async def write(self, path: str, content: bytes) -> None:
        """Replaces the file in one step, making its folders. Raises: FileRefused, SandboxLost."""
        ...

    async def list(self, path: str) -> Sequence[FileEntry]:
        """Raises: FileRefused, SandboxLost."""
        ...


class Sandbox(Protocol):
    """An open connection to one sandbox."""

    @property
    def lease(self) -> Lease: ...

    @property
    def files(self) -> Files: ...

    async def run(self, command: Command, progress: Progress | None = None) -> CommandOutcome:
        """Cancelling it kills the command's whole process tree. Raises: SandboxLost."""
        ...

    def forward(self, port: int) -> AbstractAsyncContextManager[int]:
        """Make a loopback port of the sandbox reachable at a loopback port of the host, which is yielded."""
        ...

    def permit(self, egress: Sequence[HostGrant]) -> None:
        """Open these hosts at the egress proxy for as long as the sandbox lives."""
        ...


class Host(Protocol):
    """The sandboxes of one machine."""

    async def lease(self, request: LeaseRequest) -> Lease:
        """Raises: SandboxUnavailable."""
        ...

    async def open(self, lease: Lease) -> Sandbox:
        """The kept connection, or a new one. Raises: SandboxLost, also for an epoch that is no longer the newest."""
        ...

    async def release(self, lease: Lease) -> None:
        """Remove the sandbox and all that belongs to it; a sandbox that is already gone is no error."""
        ...

    async def sweep(self, living_task_ids: Sequence[str]) -> int:
        """Remove every sandbox of this host whose task is not listed; gives how many."""
        ...

    async def close(self) -> None:
        """Close connections and leave the sandboxes as they are."""
        ...
