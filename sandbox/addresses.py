"""Which addresses are public, whatever form they hide in."""

import ipaddress
from collections.abc import Iterator

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

CLOSED_V4 = tuple(
    ipaddress.IPv4Network(network)
    for network in (
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",  # carriers' own, and some clouds' metadata
        "127.0.0.0/8",
        "168.63.129.16/32",  # metadata of Azure, at a public address
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.88.99.0/24",
        "192.168.0.0/16",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4",
        "240.0.0.0/4",
    )
)
GLOBAL_V6 = ipaddress.IPv6Network("2000::/3")
CLOSED_V6 = tuple(
    ipaddress.IPv6Network(network)
    for network in (
        "2001::/23",  # Teredo, ORCHID, benchmarks: protocols, not places
        "2001:db8::/32",
        "3fff::/20",
    )
)
MAPPED = ipaddress.IPv6Network("::ffff:0:0/96")
NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
SIX_TO_FOUR = ipaddress.IPv6Network("2002::/16")
ISATAP = (0x00005EFE, 0x02005EFE)


def is_public(address: Address) -> bool:
    """True if it is a place of the public internet, and so is every IPv4 address that it carries."""
    if isinstance(address, ipaddress.IPv4Address):
        return not any(address in network for network in CLOSED_V4)
    carried = tuple(_carried(address))
    if address in MAPPED or address in NAT64:
        return all(is_public(inner) for inner in carried)
    if address not in GLOBAL_V6 or any(address in network for network in CLOSED_V6):
        return False
    return all(is_public(inner) for inner in carried)


def is_number(host: str) -> bool:
    """Whether a canonical host is an address and not a name."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _carried(address: ipaddress.IPv6Address) -> Iterator[ipaddress.IPv4Address]:
    number = int(address)
    if address in MAPPED or address in NAT64 or (number >> 32) & 0xFFFFFFFF in ISATAP:
        yield ipaddress.IPv4Address(number & 0xFFFFFFFF)
    if address in SIX_TO_FOUR:
        yield ipaddress.IPv4Address((number >> 80) & 0xFFFFFFFF)
