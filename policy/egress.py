"""The `egress` section of a policy file: what holds for the way out of every sandbox."""

import re
from collections.abc import Iterator

from contracts.egress import EgressRules
from contracts.messages import HostGrant
from policy.document import Entry
from policy.hosts import HostPattern
from policy.sections import rate

_KEYS = (
    "allowed",
    "blocked",
    "methods",
    "ports",
    "upload_limit",
    "download_limit",
    "request_rate",
    "speed_limit",
    "inspect",
    "authorities",
)
_UNITS = {
    "": 1,
    "b": 1,
    "kb": 1_000,
    "mb": 1_000_000,
    "gb": 1_000_000_000,
    "kib": 1_024,
    "mib": 1_048_576,
    "gib": 1_073_741_824,
}
_SIZE = re.compile(r"^(\d+(?:\.\d+)?)\s*([kmg]i?b|b?)$")
_METHOD = re.compile(r"[A-Z][A-Z0-9_-]{0,31}")


def egress_rules(entry: Entry | None) -> EgressRules:
    """Raises: PolicyError."""
    fields = entry.fields(_KEYS) if entry else {}
    return EgressRules(
        allowed=tuple(grant for item in _items(fields.get("allowed")) for grant in _grants(item)),
        blocked=tuple(_pattern(item) for item in _items(fields.get("blocked"))),
        methods=_methods(fields.get("methods")),
        ports=_ports(fields.get("ports")),
        bytes_up=_size(fields.get("upload_limit")),
        bytes_down=_size(fields.get("download_limit")),
        requests_per_minute=_per_minute(fields.get("request_rate")),
        bytes_per_second=_speed(fields.get("speed_limit")),
        inspect=tuple(_pattern(item) for item in _items(fields.get("inspect"))),
        authorities=fields["authorities"].text() if "authorities" in fields else None,
    )


def _items(entry: Entry | None) -> list[Entry]:
    return entry.items() if entry else []


def _grants(entry: Entry) -> Iterator[HostGrant]:
    """`host`, `*.host`, `host:port`, or a mapping of host, ports and methods."""
    fields = entry.fields(("host", "ports", "methods")) if entry.is_mapping else {"host": entry}
    if "host" not in fields:
        raise entry.error("no `host`: name the host that these ports and methods are for")
    found = _host(fields["host"])
    for port in _ports(fields.get("ports")) or (found.port,):
        yield HostGrant(host=_spelled(found), port=port, methods=_methods(fields.get("methods")))


def _pattern(entry: Entry) -> str:
    """A host without a port: it is meant on every port."""
    return _spelled(_host(entry))


def _host(entry: Entry) -> HostPattern:
    try:
        found = HostPattern.parse(entry.text())
    except ValueError as error:
        raise entry.error(str(error)) from error
    if found.path:
        raise entry.error(f"{entry.text()!r} has a path: encrypted traffic shows none, so name the host alone")
    return found


def _spelled(found: HostPattern) -> str:
    return f"*.{found.host}" if found.subdomains else found.host or "*"


def _methods(entry: Entry | None) -> tuple[str, ...]:
    found = []
    for item in _items(entry):
        method = item.text().upper()
        if not _METHOD.fullmatch(method):
            raise item.error(f"{item.text()!r} is not a method: write names such as GET, POST or CONNECT")
        found.append(method)
    return tuple(found)


def _ports(entry: Entry | None) -> tuple[int, ...]:
    found = []
    for item in _items(entry):
        text = item.text()
        if not (text.isascii() and text.isdigit() and 1 <= int(text[:6]) <= 65_535):
            raise item.error(f"{text!r} is not a port: write a number from 1 to 65535")
        found.append(int(text))
    return tuple(found)


def _size(entry: Entry | None) -> int | None:
    if entry is None:
        return None
    size = _bytes_of(entry.text())
    if size is None:
        raise entry.error(f"{entry.text()!r} is not an amount of data: write a number and a unit, such as 500 MB")
    return size


def _speed(entry: Entry | None) -> int | None:
    if entry is None:
        return None
    text = re.sub(r"\s*(?:/|per)\s*s(?:ec|econd)?$", "", entry.text().lower())
    speed = _bytes_of(text)
    if not speed:
        raise entry.error(f"{entry.text()!r} is not a speed: write an amount in a second, such as 10 MB/s")
    return speed


def _per_minute(entry: Entry | None) -> float | None:
    if entry is None:
        return None
    found = rate(entry)
    if not found.count:
        raise entry.error(f"{entry.text()!r} lets no request pass: to close every host, write `blocked: ['*']`")
    return found.count * 60 / found.seconds


def _bytes_of(text: str) -> int | None:
    found = _SIZE.match(text.strip().lower())
    return int(float(found[1]) * _UNITS[found[2]]) if found else None
