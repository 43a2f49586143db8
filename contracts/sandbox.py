"""A place to work: what is leased, and the narrow seam through which tools use it."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from typing import Literal, Protocol

from pydantic import Field

from contracts.messages import HostGrant
from contracts.paths import Followed
from contracts.values import Value


class SandboxLost(Exception):
    """Raised when the sandbox itself is gone or cannot be reached; the command's fate is then unknown."""


class SandboxUnavailable(Exception):
    """Raised when no sandbox can be made now, such as with no engine or no image; the text says the remedy."""


class HostFull(SandboxUnavailable):
    """Raised when this host or this user has as many sandboxes as allowed; another host, or a later time, may do."""


class SandboxBusy(Exception):
    """Raised when something still runs in a sandbox that was to be paused, put to sleep or saved."""


class SnapshotUnusable(Exception):
    """Raised when a snapshot is missing, was changed, or does not fit the engine; the text names it and the reason."""


class SnapshotFailed(Exception):
    """Raised when a snapshot could not be taken or stored; nothing of it counts, and the sandbox is as it was."""


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
    runtime: str | None = None
    """The OCI runtime that policy demands, such as `runsc`; a host that cannot give it refuses."""
    restore: str | None = None
    """Digest of the snapshot that a new sandbox begins with."""


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
    restored: str | None = None
    """Digest of the snapshot that this sandbox was made from; None if it began empty."""
    api_url: str = ""
    """Where this host serves files and terminals of its sandboxes to the owner's command line."""
    processes_restored: bool = False
    """True if the processes of that snapshot run on in it."""


SnapshotKind = Literal["files", "process"]
"""files: what the sandbox wrote; process: that, and the memory of every process, which then run on."""


class Snapshot(Value):
    """A state that can be gone back to. Its digest names it, and covers all that belongs to it."""

    digest: str = Field(pattern=r"^[0-9a-f]{64}$")
    kind: SnapshotKind
    owner: str
    """Whose sandbox it was: the id of its task, or the name of a fork."""
    name: str = ""
    """Such as `step-7`, or what a person called it."""
    parent: str | None = None
    created_at: datetime
    files: int = 0
    bytes_total: int = 0
    """Of all files, as they lie in the sandbox."""
    bytes_added: int = 0
    """What the store grew by."""
    driver: str = ""
    runtime: str = ""
    image: str = ""


class SweepReport(Value):
    """What a sweep of one host found without a living owner, removed, and could not remove."""

    sandboxes: int = 0
    volumes: int = 0
    networks: int = 0
    folders: int = 0
    processes: int = 0
    snapshots: int = 0
    left: tuple[str, ...] = ()
    """Names of what is still there although nobody owns it; empty is the proof."""


class HostedSandbox(Value):
    """One sandbox as its host sees it."""

    sandbox_id: str
    owner: str
    user_id: str
    epoch: int
    state: Literal["warm", "active", "paused", "dead"]
    runtime: str
    image: str
    disk_bytes: int | None = None
    memory_bytes: int | None = None


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


Limit = Literal["memory", "disk", "processes", "output", "wall_time", "open_files", "file_size"]


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
    limit: Limit | None = None
    """The bound of the sandbox that ended it, or that it ran against; the tool says which and how much it is."""
    limit_amount: float | None = None
    """How much of it the sandbox may have: megabytes of memory, disk, output or one file, seconds, or a number."""


class FileEntry(Value):
    """One name in a folder of the sandbox."""

    name: str
    kind: str
    """file, folder, link or other."""
    size: int
    modified: float
    """Seconds since the epoch."""


class Artifact(Value):
    """A file that a task made in its workspace."""

    path: str
    """Relative to /workspace."""
    size: int
    modified: float
    """Seconds since the epoch."""
    sha256: str


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

    def stream(self, path: str, *, max_bytes: int) -> AbstractAsyncContextManager[AsyncIterator[bytes]]:
        """The content in pieces, never all in memory. Raises: FileRefused, SandboxLost."""
        ...

    async def store(self, path: str, pieces: AsyncIterator[bytes], *, max_bytes: int) -> int:
        """Like `write`, from pieces; gives the number of bytes. Nothing stays of a file that breaks off or is too
        large. Raises: FileRefused, SandboxLost."""
        ...

    async def artifacts(self) -> Sequence[Artifact]:
        """The plain files below /workspace, with digests. Raises: FileRefused if too many, SandboxLost."""
        ...

    async def list(self, path: str) -> Sequence[FileEntry]:
        """Raises: FileRefused, SandboxLost."""
        ...

    async def follow(self, paths: Sequence[str], *, digests: bool = False) -> Sequence[Followed]:
        """Where absolute paths lead anywhere in the sandbox, looked at without being touched. Wildcards are live (`[*]`
        stands for a star): of the names that fit, those that lead elsewhere are given, with `digests` all of them.

        Raises: FileRefused if that is more than can be looked at, SandboxLost."""
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

    def permit(self, egress: Sequence[HostGrant], role: str = "") -> None:
        """Open these hosts at the egress proxy for as long as the sandbox lives; what the role never may stays closed.
        Without a role that is what any role may not."""
        ...


class Host(Protocol):
    """The sandboxes of one machine."""

    async def lease(self, request: LeaseRequest) -> Lease:
        """Claims a warm one or makes one; restores the snapshot that is named. The same request gives the same lease.

        Raises: HostFull, SandboxUnavailable, SnapshotUnusable."""
        ...

    async def open(self, lease: Lease) -> Sandbox:
        """The kept connection, or a new one; resumes a paused sandbox. Raises: SandboxLost, also for an epoch that is
        no longer the newest."""
        ...

    async def pause(self, lease: Lease) -> None:
        """Freeze it. A paused one is no error. Raises: SandboxBusy, SandboxLost."""
        ...

    async def resume(self, lease: Lease) -> None:
        """A running one is no error. Raises: SandboxLost."""
        ...

    async def snapshot(self, lease: Lease, name: str, kind: SnapshotKind = "files") -> Snapshot:
        """Save its state and let it go on as it was, running or paused. Raises: SandboxBusy (process only),
        SandboxLost, SnapshotFailed."""
        ...

    async def sleep(self, lease: Lease, name: str, kind: SnapshotKind = "process") -> Snapshot:
        """Save its state, with its processes if that is wanted and the engine can, and free all that it used here.
        Raises: SandboxBusy, SandboxLost, SnapshotFailed; it is then still there."""
        ...

    async def release(self, lease: Lease) -> None:
        """Give it up: nobody can use it from now on, and it is removed in the background with all that belongs to it;
        one that is already gone is no error."""
        ...

    async def hosted(self) -> Sequence[HostedSandbox]:
        """Everything that is here now. Raises: SandboxUnavailable."""
        ...

    async def sweep(self, living: Sequence[Lease]) -> SweepReport:
        """Remove all that belongs to none of these leases, whatever made it. Raises: SandboxUnavailable."""
        ...

    async def close(self) -> None:
        """Close connections, drain the warm pool, and leave the leased sandboxes as they are."""
        ...
