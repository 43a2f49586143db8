"""Finds the addresses of a permitted host, and looks at every one of them."""

import asyncio
import ipaddress
import socket
import time
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, lru_cache

import psutil

from contracts.language import Language
from contracts.messages import HostGrant
from contracts.texts import egress as texts
from sandbox.addresses import Address, is_public
from sandbox.grants import pinned
from sandbox.rules import Laws, Refused

RESOLVE_SECONDS = 8.0
RESOLVE_THREADS = 16
OWN_SECONDS = 10.0
"""How long the addresses of this machine are remembered."""

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
"""Gives the addresses of a name."""


@dataclass(frozen=True)
class Open:
    """The request may go to one of these addresses, and to no other."""

    host: str
    addresses: tuple[tuple[str, int], ...]


async def system_resolve(host: str, port: int) -> Sequence[str]:
    """Raises: OSError."""
    found = await asyncio.get_running_loop().run_in_executor(
        _threads(), lambda: socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    )
    return list(dict.fromkeys(str(sockaddr[0]) for *_, sockaddr in found))


@cache
def _threads() -> ThreadPoolExecutor:
    """Threads of their own: names that nobody answers for must not hold up other work of this process."""
    return ThreadPoolExecutor(RESOLVE_THREADS, "resolve")


async def located(laws: Laws, grant: HostGrant, name: str, port: int, resolve: Resolve) -> Open | Refused:
    """Names are resolved here and never again: the connection is made to an address that was looked at."""
    if grant.address is not None:
        place = pinned(grant.address)
        if place is None:
            return Refused("bad_grant", texts.EGRESS_NO_ADDRESS.say(laws.language, host=name), 502)
        return laws.closed(place[0]) or Open(name, (place,))
    try:
        async with asyncio.timeout(RESOLVE_SECONDS):
            found = await resolve(name, port)
    except (OSError, UnicodeError, TimeoutError):
        found = ()
    if not found:
        return Refused("no_address", texts.EGRESS_NO_ADDRESS.say(laws.language, host=name), 502)
    for address in found:
        if refused := _closed(laws, name, address):
            return refused
    return Open(name, tuple((address, port) for address in found))


def _closed(laws: Laws, name: str, text: str) -> Refused | None:
    address = _address(text)
    if address is None or not is_public(address) or address in own_addresses():
        return _not_public(laws.language, name, text)
    return laws.closed(str(address))


def _not_public(language: Language, name: str, address: str) -> Refused:
    return Refused("not_public", texts.EGRESS_NOT_PUBLIC.say(language, host=name, address=address))


def _address(text: str) -> Address | None:
    """An IPv4 address in an IPv6 coat is taken out of it, as the kernel does when it connects."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address


def own_addresses() -> frozenset[Address]:
    """The addresses of this machine: what listens on all of them listens on the public one too."""
    return _own_addresses(int(time.monotonic() // OWN_SECONDS))


@lru_cache(maxsize=1)
def _own_addresses(_moment: int) -> frozenset[Address]:
    found = (_address(each.address) for cards in psutil.net_if_addrs().values() for each in cards)
    return frozenset(address for address in found if address is not None)
