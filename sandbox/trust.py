"""Makes a sandbox trust this installation's certificate authority, from the first command after a host was listed for
inspection."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable

from contracts.sandbox import Command, CommandOutcome
from sandbox.far_end import far_end
from sandbox.house import HouseRules

FOLDER = "/run/asos"
BUNDLE = f"{FOLDER}/trusted.pem"
ENVIRONMENT = {
    "SSL_CERT_FILE": BUNDLE,
    "REQUESTS_CA_BUNDLE": BUNDLE,
    "CURL_CA_BUNDLE": BUNDLE,
    "GIT_SSL_CAINFO": BUNDLE,
    "PIP_CERT": BUNDLE,
    "NODE_EXTRA_CA_CERTS": f"{FOLDER}/authority.pem",
    "APT_CONFIG": f"{FOLDER}/apt.conf",
    "WGETRC": f"{FOLDER}/wgetrc",
}
"""What programs read; apt and wget know no variable for this, only one for a file of settings."""

LOOK_SECONDS = 1.0
"""How long it is remembered whether anything is inspected at all."""
INSTALL_SECONDS = 60.0

log = logging.getLogger(__name__)


class Trust:
    """The trust of one sandbox. It costs nothing where nothing is inspected."""

    def __init__(self, house: HouseRules) -> None:
        self._house = house
        self._wanted = False
        self._look_at = 0.0
        self._installed = False
        self._installing = asyncio.Lock()

    async def given_to(self, command: Command, run: Callable[[Command], Awaitable[CommandOutcome]]) -> Command:
        """The command, with what its programs need. Raises: what `run` raises."""
        inspection = self._house.inspection
        if inspection is None or not await self._is_wanted():
            return command
        async with self._installing:
            if not self._installed:
                self._installed = await _installed(inspection.certificate, run)
        return command.model_copy(update={"env": ENVIRONMENT | command.env}) if self._installed else command

    async def _is_wanted(self) -> bool:
        if time.monotonic() >= self._look_at:
            rules = await asyncio.to_thread(self._house.rules)
            self._wanted, self._look_at = bool(rules.inspect), time.monotonic() + LOOK_SECONDS
        return self._wanted


async def _installed(certificate: bytes, run: Callable[[Command], Awaitable[CommandOutcome]]) -> bool:
    names = [f"{name}={value}" for name, value in ENVIRONMENT.items()]
    argv = ("/bin/sh", "-c", far_end("trust.sh"), "sh", *names)
    outcome = await run(Command(argv=argv, cwd="/", stdin=certificate, timeout_seconds=INSTALL_SECONDS))
    if outcome.exit_code != 0:
        complaint = outcome.stderr.head.decode("utf-8", "replace").strip()
        log.error("a sandbox does not trust the authority for inspected hosts: %s", complaint or outcome.exit_code)
    return outcome.exit_code == 0
