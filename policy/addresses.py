"""Which network addresses are out of bounds, whatever name led to them."""

from collections.abc import Iterator
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

Address = IPv4Address | IPv6Address

_NAT64 = (ip_network("64:ff9b::/96"), ip_network("64:ff9b:1::/48"))
_CLOUD_HOSTS = frozenset({ip_address("168.63.129.16")})
"""Metadata and host services of clouds that answer at addresses which look public."""

_LOCAL_SUFFIXES = (
    "localhost", "localdomain", "local", "internal", "intranet", "private", "corp", "home", "lan", "home.arpa", "svc",
    "cluster.local", "onion",
)  # fmt: skip


def is_reachable(text: str) -> bool:
    """Whether this is an address of the public internet; False for anything that cannot be read."""
    try:
        address = ip_address(text.strip("[]").split("%", 1)[0])
    except ValueError:
        return False
    return all(_is_public(form) for form in _forms(address))


def is_local_name(host: str) -> bool:
    """Whether the name belongs to this machine or its own network: one label, or a suffix kept for that."""
    return "." not in host or any(host == suffix or host.endswith("." + suffix) for suffix in _LOCAL_SUFFIXES)


def is_address(host: str) -> bool:
    try:
        ip_address(host.strip("[]"))
    except ValueError:
        return False
    return True


def _is_public(address: Address) -> bool:
    return address.is_global and not address.is_multicast and address not in _CLOUD_HOSTS


def _forms(address: Address) -> Iterator[Address]:
    """The address, and every IPv4 address that is carried inside of it."""
    yield address
    if isinstance(address, IPv4Address):
        return
    low = IPv4Address(int(address) & 0xFFFFFFFF)
    if address.ipv4_mapped:
        yield address.ipv4_mapped
    if address.sixtofour:
        yield address.sixtofour
    if address.teredo:
        yield from address.teredo
    if any(address in network for network in _NAT64) or int(address) >> 32 == 0:
        yield low
