"""The page /approvals: everything that waits for a decision, with all that the card shows, and a form for each."""

import hmac
from collections.abc import AsyncIterator, Callable
from html import escape

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from contracts.language import Language
from contracts.task import Approval, Phase, TaskStatus
from contracts.texts import approvals as texts
from contracts.texts import gateway as gateway_texts
from contracts.texts import pages
from contracts.texts.sentence import Sentence
from gateway.buttons import token_of
from gateway.card import card_lines
from gateway.deciding import Always, Deciding, Said
from gateway.desk import Desk, DeskUnreachable, NoSuchTask, Refused
from gateway.forms import form_of
from gateway.login_page import HEADERS, is_own_page, language_of
from gateway.obeying import refusal_text
from gateway.owner import COOKIE, Owner

PATH = "/approvals"
TASKS_SEARCHED = 200
BY = "console:web"
"""Who holds the owner's cookie decides as the owner."""

_CHOICES: dict[str, tuple[bool, Always]] = {
    "approve": (True, ""),
    "always_task": (True, "task"),
    "always": (True, "person"),
    "deny": (False, ""),
}

SentenceFor = Callable[[str], Sentence | None]


def approval_routes(desk: Desk, deciding: Deciding, owner: Owner, sentence_for: SentenceFor) -> APIRouter:
    """GET lists, POST decides; both for the owner's cookie alone, and POST only from this very page."""
    router = APIRouter()

    @router.get(PATH)
    async def show(request: Request) -> Response:
        if not owner.is_cookie(request.cookies.get(COOKIE, "")):
            return _to_login(request)
        try:
            open_tasks = [status async for status in waiting(desk)]
        except DeskUnreachable:
            return _answer(texts.PAGE_SILENT.say(language_of(request)), 503)
        return _page(open_tasks, owner, language_of(request), sentence_for)

    @router.post(PATH)
    async def decide(request: Request) -> Response:
        language = language_of(request)
        if not owner.is_cookie(request.cookies.get(COOKIE, "")):
            return Response(pages.OWNER_ONLY.say(language), 401)
        said = await form_of(request)
        proof = said.get("proof", "").encode("utf-8", "replace")
        if not is_own_page(request) or not hmac.compare_digest(proof, owner.form_proof(PATH).encode()):
            return Response(pages.FOREIGN_PAGE.say(language), 403)
        try:
            return await _decided(desk, deciding, said, language)
        except DeskUnreachable:
            return _answer(texts.PAGE_SILENT.say(language), 503)
        except Refused as refused:
            return _answer(refusal_text(refused, language), 409)

    return router


async def waiting(desk: Desk) -> AsyncIterator[TaskStatus]:
    """Every task that waits for a yes or no. Raises: DeskUnreachable, Refused."""
    for task in await desk.tasks(None, TASKS_SEARCHED):
        if task.open and task.phase is Phase.AWAITING_APPROVAL:
            try:
                status = await desk.status(task.task_id)
            except NoSuchTask:
                continue
            if status.approval is not None:
                yield status


async def _decided(desk: Desk, deciding: Deciding, said: dict[str, str], language: Language) -> Response:
    choice = _CHOICES.get(said.get("choice", ""))
    try:
        approval = (await desk.status(said.get("task", ""))).approval
    except NoSuchTask:
        approval = None
    if choice is None or approval is None or token_of(approval) != said.get("token"):
        return _answer(gateway_texts.OUT_OF_DATE.say(language), 409)
    approve, always = choice
    decision = Said(approve, BY, said.get("note", "")[:500], always, said.get("code", "").strip(), as_owner=True)
    return _answer(await deciding.answer(said["task"], approval, decision, language), 200)


def _to_login(request: Request) -> Response:
    if "text/html" in request.headers.get("accept", ""):
        return RedirectResponse("/login", 303)
    return Response(pages.OWNER_ONLY.say(language_of(request)), 401)


def _answer(text: str, status: int) -> Response:
    back = f'<p>{escape(text)}</p><p><a href="{PATH}">{PATH}</a></p>'
    return Response(_html("en", back), status, media_type="text/html", headers=HEADERS)


def _page(tasks: list[TaskStatus], owner: Owner, language: Language, sentence_for: SentenceFor) -> Response:
    title = escape(texts.PAGE_TITLE.say(language))
    forms = [_form(task, task.approval, owner, language, sentence_for) for task in tasks if task.approval is not None]
    body = "".join(forms) or f"<p>{escape(texts.PAGE_EMPTY.say(language))}</p>"
    return Response(_html(language, f"<h1>{title}</h1>{body}"), media_type="text/html", headers=HEADERS)


def _html(language: Language, body: str) -> str:
    return f'<!doctype html><html lang="{language}"><meta charset="utf-8"><title>Agent Sandbox OS</title>{body}</html>'


def _form(task: TaskStatus, approval: Approval, owner: Owner, language: Language, sentence_for: SentenceFor) -> str:
    hidden = {"task": task.record.task_id, "token": token_of(approval), "proof": owner.form_proof(PATH)}
    fields = "".join(f'<input type="hidden" name="{name}" value="{escape(value)}">' for name, value in hidden.items())
    lines = "".join(f"<p>{escape(line)}</p>" for line in card_lines(approval, language, sentence_for))
    code = ""
    if approval.step_up:
        label = escape(texts.PAGE_CODE.say(language))
        code = f'<p><label>{label} <input name="code" inputmode="numeric" autocomplete="off" maxlength="6"></label></p>'
    buttons = [("approve", gateway_texts.APPROVE), ("deny", gateway_texts.DENY)]
    if approval.shape is not None:
        buttons[1:1] = [("always_task", texts.ALWAYS_TASK), ("always", texts.ALWAYS)]
    shown = " ".join(
        f'<button name="choice" value="{name}">{escape(label.say(language))}</button>' for name, label in buttons
    )
    return (
        f"<hr><h2>{escape(approval.summary)}</h2><p>{escape(texts.PAGE_TASK.say(language))} "
        f"{escape(task.record.task_id)}: {escape(task.goal)}</p><pre>{escape(approval.preview)}</pre>{lines}"
        f'<form method="post" action="{PATH}">{fields}{code}<p>{shown}</p></form>'
    )
