"""Who is let in: whoever knows the installation's token, and calls this host by a name of its own."""

import logging
from collections.abc import Collection
from hmac import compare_digest

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocket

from contracts.access import Problem
from workers.host_api.refusal import answer

OPEN_PATHS = frozenset({"/health"})

_log = logging.getLogger(__name__)


class Guard:
    """In front of everything, web sockets too."""

    def __init__(self, app: ASGIApp, token: str, names: Collection[str]) -> None:
        self._app = app
        self._expected = f"Bearer {token}".encode()
        self._names = names

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        problem = self._problem(scope) if scope["type"] in ("http", "websocket") else None
        if problem is None:
            await self._app(scope, receive, send)
            return
        _log.warning("turned away a request for %s: %s", scope["path"], problem.code)
        if scope["type"] == "websocket":
            await WebSocket(scope, receive, send).send_denial_response(answer(problem))
        else:
            await answer(problem)(scope, receive, send)

    def _problem(self, scope: Scope) -> Problem | None:
        headers = Headers(scope=scope)
        if _name(headers.get("host", "")) not in self._names:
            # A page that points its own name at loopback must not be served as if it were the owner's.
            return Problem(code="unknown_host", text=f"this host is not called {headers.get('host', '')!r}")
        if scope["path"] in OPEN_PATHS:
            return None
        if not compare_digest(headers.get("authorization", "").encode("utf-8", "replace"), self._expected):
            return Problem(code="unauthorised", text="the installation's token is missing or is another's")
        return None


def _name(host: str) -> str:
    """Without its port; an IPv6 address keeps its brackets."""
    name, colon, port = host.rpartition(":")
    return name if colon and port.isdigit() else host
