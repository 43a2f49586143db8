"""The page /kill: one big button for the owner's browser, and the lift, which wants the second factor."""

import hmac
import secrets
from html import escape

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from audit.storage import StorageUnusable
from contracts.kill import Kill, KillLevel
from contracts.language import Language
from contracts.texts import kill as texts
from contracts.texts import pages as page_texts
from contracts.texts.sentence import Sentence
from gateway.forms import form_of
from gateway.kill_orders import what_of
from gateway.login_page import HEADERS, is_own_page, language_of
from gateway.owner import COOKIE, Owner
from runtime.killing.desk import KillDesk
from runtime.killing.switch import LiftRefused
from runtime.second_factor import FactorRefused

PATH = "/kill"
BY = "web:owner"
LEVELS: dict[str, KillLevel] = {"all": "all", "network": "network", "tools": "tools"}
STYLE = (
    "body{font-family:sans-serif;max-width:40em;margin:2em auto;padding:0 1em}"
    "form{margin:1em 0}button{font-size:1.1em;padding:.5em 1em}"
    ".all{font-size:2em;width:100%;padding:1em;background:#b00020;color:#fff;border:0;border-radius:.3em}"
)


def kill_routes(owner: Owner, kills: KillDesk) -> APIRouter:
    """GET shows what is in force; POST stops or lifts. Only a form of this very page is obeyed."""
    router = APIRouter()

    @router.get(PATH)
    async def show(request: Request) -> Response:
        if not owner.is_cookie(request.cookies.get(COOKIE, "")):
            return RedirectResponse(f"/login?next={PATH}", 303)
        return _page(request, owner, await kills.in_force(), "")

    @router.post(PATH)
    async def act(request: Request) -> Response:
        language = language_of(request)
        if not owner.is_cookie(request.cookies.get(COOKIE, "")):
            return Response(page_texts.OWNER_ONLY.say(language), 401)
        said = await form_of(request)
        if not is_own_page(request) or not hmac.compare_digest(
            said.get("form", "").encode(), owner.form_proof(PATH).encode()
        ):
            return Response(texts.PAGE_STALE.say(language), 403)
        note, status = await _done(kills, said, language)
        return _page(request, owner, await kills.in_force(), note, status)

    return router


async def _done(kills: KillDesk, said: dict[str, str], language: Language) -> tuple[str, int]:
    if said.get("do") == "lift":
        return await _lifted(kills, said.get("code", ""), language)
    level = LEVELS.get(said.get("do", ""))
    if level is None:
        return texts.PAGE_STALE.say(language), 400
    try:
        await kills.pull(level, None, BY)
    except OSError as error:
        return texts.PULL_FAILED.say(language, reason=error.strerror or str(error)), 500
    return texts.PAGE_DONE.say(language), 200


async def _lifted(kills: KillDesk, code: str, language: Language) -> tuple[str, int]:
    try:
        lifted = await kills.lift(None, code, BY)
    except LiftRefused:
        return texts.NOTHING_STOPPED.say(language), 409
    except FactorRefused as refused:
        return refused.sentence.say(language, **refused.values), 403
    except StorageUnusable as error:
        return texts.LIFT_NOT_RECORDED.say(language, reason=error), 503
    return texts.LIFTED.say(language, what=what_of(lifted, language)), 200


def _page(request: Request, owner: Owner, kills: tuple[Kill, ...], note: str, status: int = 200) -> Response:
    language, nonce = language_of(request), secrets.token_urlsafe(12)
    html = (
        f'<!doctype html><html lang="{language}"><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width"><title>{_said(texts.PAGE_TITLE, language)}</title>'
        f'<style nonce="{nonce}">{STYLE}</style><h1>{_said(texts.PAGE_TITLE, language)}</h1>'
        f"{f'<p><strong>{escape(note)}</strong></p>' if note else ''}{_in_force(kills, language)}"
        f"{_button(owner, 'all', texts.PAGE_BUTTON, language)}{_button(owner, 'network', texts.PAGE_NETWORK, language)}"
        f"{_button(owner, 'tools', texts.PAGE_TOOLS, language)}{_lift_form(owner, language) if kills else ''}"
    )
    policy = f"default-src 'none'; style-src 'nonce-{nonce}'; form-action 'self'; frame-ancestors 'none'"
    return Response(html, status, media_type="text/html", headers={**HEADERS, "Content-Security-Policy": policy})


def _in_force(kills: tuple[Kill, ...], language: Language) -> str:
    if not kills:
        return f"<p>{_said(texts.PAGE_FREE, language)}</p>"
    lines = "".join(
        f"<li>{escape(what_of((kill,), language))} – {escape(kill.by)}, {kill.at:%Y-%m-%d %H:%M:%S} UTC "
        f"<code>{escape(kill.kill_id)}</code> {escape(kill.reason)}</li>"
        for kill in kills
    )
    return f"<h2>{_said(texts.PAGE_IN_FORCE, language)}</h2><ul>{lines}</ul>"


def _button(owner: Owner, do: str, label: Sentence, language: Language) -> str:
    return (
        f'<form method="post">{_proof(owner)}<button class="{do}" name="do" value="{do}">'
        f"{_said(label, language)}</button></form>"
    )


def _lift_form(owner: Owner, language: Language) -> str:
    return (
        f'<form method="post">{_proof(owner)}<label>{_said(texts.PAGE_CODE, language)} '
        f'<input name="code" inputmode="numeric" autocomplete="one-time-code"></label> '
        f'<button name="do" value="lift">{_said(texts.PAGE_LIFT, language)}</button></form>'
    )


def _proof(owner: Owner) -> str:
    return f'<input type="hidden" name="form" value="{escape(owner.form_proof(PATH))}">'


def _said(sentence: Sentence, language: Language) -> str:
    return escape(sentence.say(language))
