"""The audit of this installation, as each of its processes opens it."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from audit.log import AuditLog
from audit.places import AuditPlaces
from audit.recorder import LogRecorder
from audit.storage import StorageUnusable
from runtime.confidential import Confidential
from runtime.keys import Keyring
from runtime.paths import DataPaths
from runtime.process import CannotStart
from runtime.settings import Settings


def audit_places(settings: Settings) -> AuditPlaces:
    """Where it lies."""
    paths = DataPaths(settings.data_dir)
    return AuditPlaces(paths.audit_log, settings.audit_head or paths.audit_head, paths.audit_key)


@asynccontextmanager
async def recording(settings: Settings, keyring: Keyring, redact: Callable[[str], str]) -> AsyncIterator[LogRecorder]:
    """Record while the block runs. Raises: CannotStart, also if the log does not fit its signed head."""
    try:
        log = await AuditLog.open(audit_places(settings))
    except StorageUnusable as error:
        raise CannotStart(str(error)) from error
    try:
        yield LogRecorder(log, Confidential(keyring, redact).seal)
    finally:
        await log.close()
