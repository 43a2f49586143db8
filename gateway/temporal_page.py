"""The Temporal UI on the gateway's own address, for the owner's browser only.

Seen from here, page and codec endpoint are of one origin, so the browser sends its cookie along and the page shows
clear text without any setting; the UI of the embedded server cannot be told to send cookies to another origin.
"""

from collections.abc import AsyncIterator, Iterable
from urllib.parse import quote

import httpx
from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse, StreamingResponse

from contracts.texts import pages as texts
from gateway.login_page import is_own_page, language_of
from gateway.owner import COOKIE, Owner

METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]
TIMEOUT = httpx.Timeout(75.0, connect=5.0)
"""The UI holds some requests open for a minute, until something has changed."""

CONTENT_POLICY = b"base-uri 'self'; object-src 'none'; frame-ancestors 'none'; connect-src 'self'; form-action 'self'"
"""The UI leaves its own out where it has a path; scripts and styles are its own business."""

_HOP_BY_HOP = frozenset(
    {"connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "te", "trailer", "transfer-encoding"}
    | {"upgrade", "host"}
)


class TemporalPage:
    """Passes requests on to the UI; `upstream` is its address without a path."""

    def __init__(self, upstream: str, path: str, owner: Owner) -> None:
        self._path = path
        self._owner = owner
        self._http = httpx.AsyncClient(base_url=upstream, timeout=TIMEOUT, trust_env=False)

    async def close(self) -> None:
        await self._http.aclose()

    def routes(self) -> APIRouter:
        """Everything under the UI's path."""
        router = APIRouter()
        for path in (self._path, f"{self._path}/{{rest:path}}"):
            router.add_api_route(path, self._answer, methods=METHODS, response_model=None)
        return router

    async def _answer(self, request: Request) -> Response:
        if not self._owner.is_cookie(request.cookies.get(COOKIE, "")):
            return _to_login(request)
        if not is_own_page(request):
            return Response(texts.FOREIGN_PAGE.say(language_of(request)), 403)
        try:
            return await self._passed_on(request)
        except httpx.TransportError:
            return Response(texts.UI_SILENT.say(language_of(request)), 502)

    async def _passed_on(self, request: Request) -> Response:
        has_body = "content-length" in request.headers or "transfer-encoding" in request.headers
        asked = self._http.build_request(
            request.method,
            httpx.URL(request.url.path).copy_with(raw_path=_raw_path(request)),
            headers=list(_forwarded(request.headers.items())),
            content=request.stream() if has_body else None,
        )
        given = await self._http.send(asked, stream=True)
        response = StreamingResponse(_body(given), given.status_code)
        response.raw_headers = [
            (name.lower().encode(), value.encode()) for name, value in _returned(given.headers.multi_items())
        ]
        response.raw_headers.append((b"content-security-policy", CONTENT_POLICY))
        return response


async def _body(given: httpx.Response) -> AsyncIterator[bytes]:
    """As it is, compressed or not; a browser that goes away closes it."""
    try:
        async for chunk in given.aiter_raw():
            yield chunk
    finally:
        await given.aclose()


def _to_login(request: Request) -> Response:
    """A person is shown where to log in; a script is told no."""
    if request.method == "GET" and "text/html" in request.headers.get("accept", ""):
        return RedirectResponse(f"/login?next={quote(_raw_path(request).decode(), safe='')}", 303)
    return Response(texts.OWNER_ONLY.say(language_of(request)), 401)


def _raw_path(request: Request) -> bytes:
    """Path and query as the browser sent them: a task's id holds an escaped slash."""
    path: bytes = request.scope["raw_path"]
    query: bytes = request.scope["query_string"]
    return path + b"?" + query if query else path


def _forwarded(headers: Iterable[tuple[str, str]]) -> Iterable[tuple[str, str]]:
    """Without our own cookie, which is none of the UI's business."""
    for name, value in headers:
        if name == "cookie":
            others = [each for each in value.split("; ") if not each.startswith(f"{COOKIE}=")]
            if others:
                yield name, "; ".join(others)
        elif name not in _HOP_BY_HOP:
            yield name, value


def _returned(headers: Iterable[tuple[str, str]]) -> Iterable[tuple[str, str]]:
    """Without leave for other pages to read it."""
    for name, value in headers:
        if name.lower() not in _HOP_BY_HOP and not name.lower().startswith("access-control-"):
            yield name, value
