"""Which hosts a sandbox may reach: exact names, `*.example.org` for those below it, `*` for any public host."""

import ipaddress
from collections.abc import Sequence

import ada_url

from contracts.messages import HostGrant

NEVER_IN_A_HOST = frozenset("/?#@\\%<>^|` \t\r\n\0")


class Grants:
    """The open hosts of one sandbox. It only grows."""

    def __init__(self, grants: Sequence[HostGrant] = ()) -> None:
        self._grants: dict[HostGrant, None] = {}
        self.add(grants)

    def add(self, grants: Sequence[HostGrant]) -> None:
        for grant in grants:
            if (name := canonical_pattern(grant.host)) is not None:
                self._grants[grant.model_copy(update={"host": name})] = None

    @property
    def all(self) -> tuple[HostGrant, ...]:
        return tuple(self._grants)

    def matching(self, host: str, port: int) -> list[HostGrant]:
        """Every grant that opens a canonical host."""
        return [grant for grant in self._grants if grant.port == port and covers(grant.host, host)]


def closeness(grant: HostGrant) -> tuple[bool, bool]:
    """The greater, the closer: a pinned one first, then the exact name, then a wild card."""
    return grant.address is not None, "*" not in grant.host


def covers(pattern: str, host: str) -> bool:
    """Whether a canonical pattern names a canonical host: `*.example.org` what is below it, `example.org` it alone."""
    if pattern.startswith("*."):
        return host.endswith(pattern[1:])
    return pattern in ("*", host)


def canonical_host(host: str) -> str | None:
    """One spelling for each host (lower case, punycode, plain numbers), or None if it is no host."""
    if not host or NEVER_IN_A_HOST & set(host) or (":" in host and not host.startswith("[")):
        return None
    try:
        name: str = ada_url.URL(f"http://{host}/").hostname
    except ValueError:
        return None
    return name.strip("[]").removesuffix(".") or None


def canonical_pattern(pattern: str) -> str | None:
    """The same for the host of a grant."""
    if pattern == "*":
        return pattern
    if pattern.startswith("*."):
        below = canonical_host(pattern[2:])
        return f"*.{below}" if below and "*" not in below else None
    bare_v6 = ":" in pattern and not pattern.startswith("[")
    name = canonical_host(f"[{pattern}]" if bare_v6 else pattern)
    return name if name and "*" not in name else None


def pinned(address: str) -> tuple[str, int] | None:
    """The address and port that a grant names as `ip:port` or `[ip]:port`, or None if it names neither."""
    host, _, port = address.rpartition(":")
    try:
        return str(ipaddress.ip_address(host.strip("[]"))), int(port)
    except ValueError:
        return None
