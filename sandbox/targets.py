"""Reads where a request wants to go, and rewrites it for the server there."""

from dataclasses import dataclass

import ada_url
import h11

HOP_BY_HOP = frozenset(
    (b"connection", b"keep-alive", b"proxy-authorization", b"proxy-connection", b"te", b"upgrade", b"host", b"expect")
)
MOST_PATH = 1_024


@dataclass(frozen=True)
class Target:
    """The place, and the request for it; None for CONNECT, whose content is not the proxy's to read."""

    host: str
    port: int
    method: str
    path: str = ""
    """Without its query, which may hold secrets."""
    request: h11.Request | None = None
    upgrade: bool = False
    """True if it asks for a WebSocket."""

    @property
    def goal(self) -> str | None:
        """The whole path, as it will be sent; None where it cannot be seen."""
        return None if self.request is None else self.request.target.decode("ascii", "replace").partition("?")[0]


def proxy_target(request: h11.Request) -> Target | None:
    """None if it is neither CONNECT host:port nor an http:// address."""
    text = request.target.decode("ascii", "replace")
    if request.method == b"CONNECT":
        host, _, port = text.rpartition(":")
        return Target(host, int(port), "CONNECT") if host and _is_port(port) else None
    url = _http_url(text)
    if url is None:
        return None
    return _target(request, url.hostname, int(url.port or 80), url.host, f"{url.pathname}{url.search}")


def inner_target(request: h11.Request, host: str, port: int) -> Target | None:
    """A request inside an opened tunnel to this place; None if it names no path, or another host."""
    text = request.target.decode("ascii", "replace")
    named = next(iter(_values(request, b"host")), b"").decode("ascii", "replace")
    url = _http_url(f"http://{named}{text}") if text.startswith("/") and named else None
    if request.method == b"CONNECT" or url is None or "/" in named:
        return None
    # The address was read with the scheme http, which leaves port 80 out: then no port stands for the tunnel's own.
    if url.hostname.strip("[]").removesuffix(".") != host or int(url.port or port) != port:
        return None
    return _target(request, host, port, named, text.partition("#")[0])


def _http_url(text: str) -> ada_url.URL | None:
    if not text.lower().startswith("http://"):
        return None
    try:
        url = ada_url.URL(text)
    except ValueError:
        return None
    return None if url.protocol != "http:" or url.username or url.password else url


def _target(request: h11.Request, host: str, port: int, named: str, goal: str) -> Target:
    upgrade = [value.lower() for value in _values(request, b"upgrade")] == [b"websocket"]
    close = [(b"Connection", b"Upgrade"), (b"Upgrade", b"websocket")] if upgrade else [(b"Connection", b"close")]
    headers = [(b"Host", named.encode()), *_kept(request), *close]
    onward = h11.Request(method=request.method, target=goal.encode(), headers=headers)
    return Target(host, port, request.method.decode("ascii"), goal.partition("?")[0][:MOST_PATH], onward, upgrade)


def _kept(request: h11.Request) -> list[tuple[bytes, bytes]]:
    named = {name.strip().lower() for value in _values(request, b"connection") for name in value.split(b",")}
    # What frames the content stays, whatever the sender says of it.
    left_out = HOP_BY_HOP | (named - {b"content-length", b"transfer-encoding"})
    return [(name, value) for name, value in request.headers.raw_items() if name.lower() not in left_out]


def _values(request: h11.Request, wanted: bytes) -> list[bytes]:
    return [value for name, value in request.headers if name == wanted]


def _is_port(text: str) -> bool:
    return text.isascii() and text.isdigit() and 1 <= int(text[:6]) <= 65_535
