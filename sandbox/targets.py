"""Reads where a proxy request wants to go, and rewrites it for the server there."""

from dataclasses import dataclass

import ada_url
import h11

HOP_BY_HOP = frozenset(
    (b"connection", b"keep-alive", b"proxy-authorization", b"proxy-connection", b"te", b"upgrade", b"host", b"expect")
)


@dataclass(frozen=True)
class Target:
    """The place, and the request for it; None for CONNECT, whose content is not ours to read."""

    host: str
    port: int
    method: str
    request: h11.Request | None


def target_of(request: h11.Request) -> Target | None:
    """None if it is neither CONNECT host:port nor an http:// address."""
    text = request.target.decode("ascii", "replace")
    if request.method == b"CONNECT":
        host, _, port = text.rpartition(":")
        return Target(host, int(port), "CONNECT", None) if host and _is_port(port) else None
    return _plain(request, text)


def _plain(request: h11.Request, text: str) -> Target | None:
    if not text.lower().startswith("http://"):
        return None
    try:
        url = ada_url.URL(text)
    except ValueError:
        return None
    if url.protocol != "http:" or url.username or url.password:
        return None
    named = {name.strip().lower() for value in _values(request, b"connection") for name in value.split(b",")}
    left_out = HOP_BY_HOP | named
    headers = [(name, value) for name, value in request.headers.raw_items() if name.lower() not in left_out]
    onward = h11.Request(
        method=request.method,
        target=f"{url.pathname}{url.search}".encode(),
        headers=[(b"Host", url.host.encode()), *headers, (b"Connection", b"close")],
    )
    return Target(url.hostname, int(url.port or 80), request.method.decode("ascii"), onward)


def _values(request: h11.Request, wanted: bytes) -> list[bytes]:
    return [value for name, value in request.headers if name == wanted]


def _is_port(text: str) -> bool:
    return text.isascii() and text.isdigit() and 1 <= int(text[:6]) <= 65_535
