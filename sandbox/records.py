"""The register of a host: which sandbox is whose, at which epoch. What is not in it is nobody's.

Only one process serves a host, so that the rows in memory are the truth and the file is there for the next life.
"""

import asyncio
import fcntl
import os
import secrets
import sqlite3
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, Literal, TypeVar

from contracts.language import Language
from contracts.messages import HostGrant
from contracts.sandbox import SandboxUnavailable, Snapshot
from contracts.texts import hosting as texts
from contracts.values import Value

T = TypeVar("T")

EPOCH_SECONDS = 90 * 86_400.0
"""How long the epoch of a task without a sandbox is known; sandboxes never share a name, so it is only for neatness."""
ASLEEP_SECONDS = 2 * 86_400.0
"""How long the snapshot of one that was put to sleep is known to whoever asks again, having missed the answer."""

SCHEMA = """
CREATE TABLE IF NOT EXISTS sandboxes (sandbox_id TEXT PRIMARY KEY, record TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS epochs (owner TEXT PRIMARY KEY, epoch INTEGER NOT NULL, seen_at REAL NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS asleep (sandbox_id TEXT PRIMARY KEY, snapshot TEXT NOT NULL, since REAL NOT NULL) STRICT;
"""


class Record(Value):
    """One sandbox. `creating`, `warm` and `leaving` end with the process that wrote them; `leased` outlives it."""

    sandbox_id: str
    state: Literal["creating", "warm", "leased", "leaving"]
    changed_at: float
    """Seconds since the epoch; a sweep leaves alone what is younger than its grace."""
    image: str = ""
    runtime: str = ""
    owner: str = ""
    """Task id, or name of a fork; empty until it is leased."""
    user_id: str = ""
    epoch: int = 0
    egress: tuple[HostGrant, ...] = ()
    restored: str | None = None
    """Digest of the snapshot that it began with."""
    processes_restored: bool = False
    snapshot: str | None = None
    """Digest of the newest snapshot of it, on which the next one builds."""

    def become(self, state: Literal["creating", "warm", "leased", "leaving"], **changes: Any) -> "Record":
        """The same sandbox in another state, from now on."""
        return self.model_copy(update={"state": state, "changed_at": time.time(), **changes})


class Register:
    """The rows, in memory and in one SQLite file; every write is on its way to the disk before anything else is."""

    def __init__(self, state_dir: Path, language: Language = "en") -> None:
        self._folder = state_dir
        self._language: Language = language
        self._path = state_dir / "sandboxes.db"
        self._rows: dict[str, Record] = {}
        self._epochs: dict[str, int] = {}
        self._asleep: dict[str, Snapshot] = {}
        self._lock: int | None = None
        self._database: sqlite3.Connection | None = None
        self._thread: ThreadPoolExecutor | None = None
        self.installation = ""
        """Tells two installations on one engine apart."""
        self.remains: tuple[str, ...] = ()
        """Sandboxes that an earlier life left half made, unclaimed or half removed."""

    async def open(self) -> None:
        """Take the host for this process. Raises: SandboxUnavailable if another one has it, or the file is unusable."""
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="sandbox register")
        try:
            await self._do(self._open)
        except BaseException:
            self._thread.shutdown(wait=False)
            self._thread = None
            raise
        self.remains = tuple(row.sandbox_id for row in self._rows.values() if row.state != "leased")

    async def close(self) -> None:
        """Let the next process have the host."""
        thread, self._thread = self._thread, None
        if thread is not None:
            await asyncio.wrap_future(thread.submit(self._close))
            thread.shutdown(wait=False)

    @property
    def is_open(self) -> bool:
        return self._thread is not None

    @property
    def rows(self) -> list[Record]:
        return list(self._rows.values())

    def get(self, sandbox_id: str) -> Record | None:
        return self._rows.get(sandbox_id)

    def leased_to(self, owner: str) -> Record | None:
        return next((row for row in self._rows.values() if row.owner == owner and row.state == "leased"), None)

    def last_epoch(self, owner: str) -> int:
        return self._epochs.get(owner, 0)

    def asleep(self, sandbox_id: str) -> Snapshot | None:
        """What a sandbox that is no longer here was put to sleep as."""
        return self._asleep.get(sandbox_id)

    async def fell_asleep(self, sandbox_id: str, snapshot: Snapshot) -> None:
        """Raises: SandboxUnavailable."""
        values = (sandbox_id, snapshot.model_dump_json(), time.time())
        await self._do(lambda: self._there().execute("INSERT OR REPLACE INTO asleep VALUES (?, ?, ?)", values))
        self._asleep[sandbox_id] = snapshot

    def note(self, record: Record) -> "Future[None]":
        """Known from now on; the file follows. Raises: SandboxUnavailable by the future."""
        self._rows[record.sandbox_id] = record
        if record.owner:
            self._epochs[record.owner] = max(record.epoch, self.last_epoch(record.owner))
        return self._submit(lambda: self._write(record))

    async def write(self, record: Record) -> None:
        """Known, and on disk when this returns. Raises: SandboxUnavailable; it is then unknown as before."""
        before = self._rows.get(record.sandbox_id)
        try:
            await asyncio.wrap_future(self.note(record))
        except SandboxUnavailable:
            self._rows.pop(record.sandbox_id, None)
            if before is not None:
                self._rows[record.sandbox_id] = before
            raise

    async def remove(self, sandbox_id: str) -> None:
        """Raises: SandboxUnavailable."""
        await self._do(lambda: self._delete(sandbox_id))
        self._rows.pop(sandbox_id, None)

    async def _do(self, step: Callable[[], T]) -> T:
        return await asyncio.wrap_future(self._submit(step))

    def _submit(self, step: Callable[[], T]) -> "Future[T]":
        """One thread takes all steps, in the order in which they were given."""
        if self._thread is None:
            raise SandboxUnavailable(texts.REGISTRY_UNUSABLE.say(self._language, path=self._path, cause="closed"))
        return self._thread.submit(self._explained, step)

    def _explained(self, step: Callable[[], T]) -> T:
        try:
            return step()
        except (sqlite3.Error, OSError, ValueError) as error:
            text = texts.REGISTRY_UNUSABLE.say(self._language, path=self._path, cause=error)
            raise SandboxUnavailable(text) from error

    def _open(self) -> None:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._lock = self._locked()
        try:
            self.installation = _installation(self._folder / "installation")
            self._path.touch(0o600)
            self._database = sqlite3.connect(self._path, isolation_level=None)
            # A killed process loses nothing this way. A power cut may lose the last moment, but it ends sandboxes too.
            self._database.execute("PRAGMA journal_mode=WAL")
            self._database.execute("PRAGMA synchronous=NORMAL")
            self._database.executescript(SCHEMA)
            self._database.execute("DELETE FROM epochs WHERE seen_at < ?", (time.time() - EPOCH_SECONDS,))
            self._database.execute("DELETE FROM asleep WHERE since < ?", (time.time() - ASLEEP_SECONDS,))
            rows = self._database.execute("SELECT record FROM sandboxes").fetchall()
            self._rows = {row.sandbox_id: row for row in map(Record.model_validate_json, (text for (text,) in rows))}
            asleep = self._database.execute("SELECT sandbox_id, snapshot FROM asleep").fetchall()
            self._asleep = {sandbox_id: Snapshot.model_validate_json(text) for sandbox_id, text in asleep}
            self._epochs = dict(self._database.execute("SELECT owner, epoch FROM epochs").fetchall())
        except BaseException:
            self._close()
            raise

    def _locked(self) -> int:
        """A lock that the kernel takes back when this process dies, however it dies."""
        descriptor = os.open(self._folder / "served-by", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, str(os.getpid()).encode("ascii"), 0)
        except BlockingIOError:
            pid = os.pread(descriptor, 20, 0).decode("ascii", "replace") or "?"
            os.close(descriptor)
            text = texts.HOST_SERVED.say(self._language, folder=self._folder, pid=pid)
            raise SandboxUnavailable(text) from None
        except BaseException:
            os.close(descriptor)
            raise
        return descriptor

    def _close(self) -> None:
        if self._database is not None:
            self._database.close()
            self._database = None
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _write(self, record: Record) -> None:
        database = self._there()
        with database:
            database.execute("BEGIN")
            database.execute(
                "INSERT INTO sandboxes VALUES (?, ?) ON CONFLICT DO UPDATE SET record = excluded.record",
                (record.sandbox_id, record.model_dump_json()),
            )
            if record.owner:
                database.execute(
                    "INSERT INTO epochs VALUES (?, ?, ?) ON CONFLICT DO UPDATE "
                    "SET epoch = max(epoch, excluded.epoch), seen_at = excluded.seen_at",
                    (record.owner, record.epoch, record.changed_at),
                )

    def _delete(self, sandbox_id: str) -> None:
        self._there().execute("DELETE FROM sandboxes WHERE sandbox_id = ?", (sandbox_id,))

    def _there(self) -> sqlite3.Connection:
        if self._database is None:
            raise OSError("closed")
        return self._database


def _installation(path: Path) -> str:
    """Made at the first call, and the same ever after. Only the holder of the lock may ask."""
    name = path.read_text(encoding="ascii").strip() if path.exists() else ""
    if not name:
        name = secrets.token_hex(4)
        path.write_text(name, encoding="ascii")
    return name
