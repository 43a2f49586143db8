"""Decides where a request may go: grant, name, and every address behind the name."""

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from contracts.language import Language
from contracts.texts import sandbox as texts
from sandbox.addresses import is_public
from sandbox.grants import Grants, canonical_host, pinned

RESOLVE_SECONDS = 8.0

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
"""Gives the addresses of a name."""


@dataclass(frozen=True)
class Open:
    """The request may go to one of these addresses, and to no other."""

    host: str
    addresses: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Refused:
    """The request may not go; `code` is for the audit, `text` for whoever asked."""

    code: str
    text: str
    status: int = 403


async def system_resolve(host: str, port: int) -> Sequence[str]:
    """Raises: OSError."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(sockaddr[0]) for *_, sockaddr in found))


async def decide(grants: Grants, host: str, port: int, resolve: Resolve, language: Language) -> Open | Refused:
    """Names are resolved here and never again: the connection is made to an address that was looked at."""
    name = canonical_host(host)
    if name is None:
        return Refused("bad_host", texts.EGRESS_BAD_REQUEST.say(language), 400)
    grant = grants.match(name, port)
    if grant is None:
        return Refused("not_allowed", texts.EGRESS_NOT_ALLOWED.say(language, host=name, port=port))
    if grant.address is not None:
        place = pinned(grant.address)
        if place is None:
            return Refused("bad_grant", texts.EGRESS_NO_ADDRESS.say(language, host=name), 502)
        return Open(name, (place,))
    try:
        async with asyncio.timeout(RESOLVE_SECONDS):
            found = await resolve(name, port)
    except (OSError, UnicodeError, TimeoutError):
        found = ()
    if not found:
        return Refused("no_address", texts.EGRESS_NO_ADDRESS.say(language, host=name), 502)
    for address in found:
        if not _is_public(address):
            return Refused("not_public", texts.EGRESS_NOT_PUBLIC.say(language, host=name, address=address))
    return Open(name, tuple((address, port) for address in found))


def _is_public(address: str) -> bool:
    try:
        return is_public(ipaddress.ip_address(address))
    except ValueError:
        return False
