"""Keeps the pairing code where `asos up` shows it, for as long as nobody owns the installation."""

import asyncio
import logging
from pathlib import Path

from gateway.pairing import OWNER, Pairing
from gateway.store import StoreUnusable
from runtime.files import write_atomically
from runtime.paths import private_folder

CHECK_SECONDS = 2.0

_log = logging.getLogger(__name__)


class PairingNote:
    """A file that only the owner of the machine can read; it goes when the code is used."""

    def __init__(self, pairing: Pairing, path: Path) -> None:
        self._pairing = pairing
        self._path = path

    async def refresh(self) -> None:
        """Write a new code where one is needed, and remove the file where none is."""
        if await self._pairing.owned():
            await asyncio.to_thread(self._path.unlink, missing_ok=True)
            return
        current = await self._pairing.current_code()
        if current is not None and current.role == OWNER and await asyncio.to_thread(self._path.exists):
            return
        code = await self._pairing.new_code(OWNER)
        await asyncio.to_thread(private_folder, self._path.parent)
        await asyncio.to_thread(write_atomically, self._path, f"{code}\n".encode())
        _log.info("a new pairing code waits in %s", self._path.name)

    async def keep(self) -> None:
        """Runs until it is cancelled."""
        while True:
            try:
                await self.refresh()
            except (StoreUnusable, OSError) as error:
                _log.warning("the pairing code cannot be renewed: %s", error)
            await asyncio.sleep(CHECK_SECONDS)
