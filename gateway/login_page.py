"""The page /login gives the owner's browser its cookie, for a ticket of `asos status` or for the owner's token."""

import logging
from datetime import UTC, datetime
from html import escape
from urllib.parse import urlsplit

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from audit.storage import StorageUnusable
from contracts.audit import Event, EventKind, NoRecord, Recorder
from contracts.language import Language
from contracts.texts import pages as texts
from contracts.texts.sentence import Sentence
from gateway.forms import form_of
from gateway.owner import COOKIE, Owner
from runtime.addresses import REPLAY_PATH

_log = logging.getLogger(__name__)

PAGES = frozenset({"/kill"})
"""Pages of our own that one may go on to."""

COOKIE_SECONDS = 30 * 86_400
# A policy of no referrer would make the browser say "null" where the form has to say whose it is.
HEADERS = {
    "X-Frame-Options": "DENY",
    "Content-Security-Policy": "default-src 'none'; form-action 'self'; frame-ancestors 'none'",
    "Referrer-Policy": "same-origin",
    "Cache-Control": "no-store",
}


def login_routes(owner: Owner, ui_path: str, recorder: Recorder | None = None) -> APIRouter:
    """GET with a ticket and POST with the token; both go on to `next`, which is one of our pages.

    With an empty `ui_path` there is no page to go on to. A login that cannot be written down is none.
    """
    router = APIRouter()
    record = recorder or NoRecord()

    @router.get("/login")
    async def ask(request: Request) -> Response:
        ticket = request.query_params.get("ticket")
        after = _within(ui_path, request.query_params.get("next", ""))
        known = owner.is_cookie(request.cookies.get(COOKIE, ""))
        if known:
            return _entered(request, owner, after)
        if ticket is None:
            return _page(request, None, 200)
        fits = owner.is_ticket(ticket, datetime.now(UTC))
        if not await _noted(record, "login" if fits else "login.refused", "ticket"):
            return _page(request, texts.NOT_RECORDED, 503)
        return _entered(request, owner, after) if fits else _page(request, texts.TICKET_OVER, 401)

    @router.post("/login")
    async def enter(request: Request) -> Response:
        if not is_own_page(request):
            return Response(texts.FOREIGN_PAGE.say(language_of(request)), 403)
        said = await form_of(request)
        fits = owner.is_token(said.get("token", ""))
        if not await _noted(record, "login" if fits else "login.refused", "token"):
            return _page(request, texts.NOT_RECORDED, 503)
        if not fits:
            return _page(request, texts.TOKEN_WRONG, 401)
        return _entered(request, owner, _within(ui_path, request.query_params.get("next", "")))

    return router


def is_own_page(request: Request) -> bool:
    """Whether a request comes from a page of the gateway itself, or from no page at all."""
    origin = request.headers.get("origin")
    return origin is None or urlsplit(origin).netloc == request.headers.get("host")


def language_of(request: Request) -> Language:
    """The browser's."""
    return "zh" if request.headers.get("accept-language", "").lower().startswith("zh") else "en"


async def _noted(recorder: Recorder, kind: EventKind, means: str) -> bool:
    """Whether it is written down, without what was said."""
    try:
        await recorder.record(Event(kind=kind, actor="web", data={"means": means}))
    except StorageUnusable as error:
        _log.error("a login cannot be written down: %s", error)
        return False
    return True


def _within(ui_path: str, wanted: str) -> str:
    """Where to go on: a page of the UI, one of our own or a recording of a task, never another site."""
    ours = wanted in PAGES or wanted.startswith(f"{REPLAY_PATH}/") or (ui_path and wanted.startswith(f"{ui_path}/"))
    return wanted if ours else ui_path


def _entered(request: Request, owner: Owner, after: str) -> Response:
    done = texts.LOGGED_IN.say(language_of(request))
    response = RedirectResponse(after, 303) if after else Response(done, media_type="text/plain")
    response.set_cookie(COOKIE, owner.cookie, max_age=COOKIE_SECONDS, httponly=True, samesite="strict")
    response.headers.update(HEADERS)
    return response


def _page(request: Request, problem: Sentence | None, status: int) -> Response:
    language = language_of(request)
    said = f"<p><strong>{escape(problem.say(language))}</strong></p>" if problem else ""
    button = escape(texts.LOG_IN.say(language))
    html = (
        f'<!doctype html><html lang="{language}"><meta charset="utf-8"><title>Agent Sandbox OS</title>'
        f"<h1>Agent Sandbox OS</h1>{said}<p>{escape(texts.HOW_TO.say(language))}</p>"
        f'<form method="post"><label>{escape(texts.OWNERS_TOKEN.say(language))} '
        f'<input type="password" name="token" autofocus></label> <button>{button}</button></form>'
    )
    return Response(html, status, media_type="text/html", headers=HEADERS)
