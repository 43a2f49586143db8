"""Passes a stop on to the other machines of the installation, through the interface that each host has."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping

from contracts.kill import Kill, LiftOrder, Stopped
from gateway.host_client import HostClient, HostRefused, HostUnreachable
from runtime.host_token import host_token
from runtime.keys import Keyring
from runtime.killing.desk import OnLift
from runtime.known_hosts import KnownHosts
from runtime.paths import DataPaths
from runtime.settings import Settings

PATIENCE_SECONDS = 6.0

_log = logging.getLogger(__name__)

Ask = Callable[[HostClient], Awaitable[None]]


class Telling:
    """All hosts but those that are left out."""

    def __init__(self, hosts: Mapping[str, str], token: str, by: str) -> None:
        self._hosts = hosts
        self._token = token
        self._by = by

    async def kill(self, kill: Kill) -> tuple[list[Stopped], dict[str, str]]:
        """What each did, and why the others did not."""
        done: list[Stopped] = []

        async def ask(host: HostClient) -> None:
            done.append(await host.kill(kill))

        return done, await self._each(ask)

    async def lift(self, order: LiftOrder) -> dict[str, str]:
        """Who did not hear of it, and why."""

        async def ask(host: HostClient) -> None:
            await host.lift(order)

        return await self._each(ask)

    async def _each(self, ask: Ask) -> dict[str, str]:
        names = list(self._hosts)
        problems = await asyncio.gather(*(self._one(self._hosts[name], ask) for name in names))
        return {name: problem for name, problem in zip(names, problems, strict=True) if problem}

    async def _one(self, url: str, ask: Ask) -> str:
        try:
            async with asyncio.timeout(PATIENCE_SECONDS), HostClient(url, self._token, self._by) as host:
                await ask(host)
        except HostUnreachable as error:
            return f"{url} does not answer: {error}"
        except HostRefused as error:
            return f"{url} refused: {error}"
        except TimeoutError:
            return f"{url} gave no answer in {PATIENCE_SECONDS:g} s"
        return ""


def others(settings: Settings, paths: DataPaths) -> dict[str, str]:
    """The hosts of this installation on other machines, as far as they are known here."""
    known = KnownHosts(paths.known_hosts).all()
    return {name: url for name, url in known.items() if name != settings.host_id}


def lift_elsewhere(settings: Settings, paths: DataPaths, keyring: Keyring) -> OnLift:
    """Passes a lift on, and logs who did not hear of it: that machine stays stopped."""

    async def lift(order: LiftOrder) -> None:
        telling = Telling(others(settings, paths), host_token(keyring), order.step_up.by)
        for name, problem in (await telling.lift(order)).items():
            _log.error("%s has not heard of the lift: %s", name, problem)

    return lift
