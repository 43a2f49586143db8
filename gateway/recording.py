"""The audit of this installation, as each of its processes opens it."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from audit.log import AuditLog
from audit.places import AuditPlaces
from audit.recorder import LogRecorder
from audit.storage import StorageUnusable
from contracts.audit import Event
from contracts.texts import factor as factor_texts
from runtime.confidential import Confidential
from runtime.keys import Keyring
from runtime.paths import DataPaths
from runtime.process import CannotStart
from runtime.second_factor import FactorRefused, SecondFactor
from runtime.service import redactor_of
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


class AtHand:
    """A recorder for processes that live for one command: the log is open only while an event is written."""

    def __init__(self, settings: Settings, keyring: Keyring) -> None:
        self._settings = settings
        self._keyring = keyring

    async def record(self, event: Event) -> None:
        """Raises: StorageUnusable."""
        redact = redactor_of(self._settings).redact
        try:
            async with recording(self._settings, self._keyring, redact) as recorder:
                await recorder.record(event)
        except CannotStart as error:
            raise StorageUnusable(str(error)) from error


def factor_of(settings: Settings, keyring: Keyring) -> SecondFactor:
    """The second factor of this installation; what cannot be put on record confirms nothing."""
    at_hand = AtHand(settings, keyring)

    def record(event: Event) -> None:
        try:
            # The factor is asked off the event loop, so that none runs in this thread.
            asyncio.run(at_hand.record(event))
        except StorageUnusable as error:
            raise FactorRefused(factor_texts.NOT_RECORDED, reason=str(error)) from error

    return SecondFactor(DataPaths(settings.data_dir), keyring, record)
