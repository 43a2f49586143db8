"""Checks of what is reached over the network: the model's server and the Telegram bot."""

from urllib.parse import urlsplit

import httpx

from contracts.language import Language
from contracts.texts import runtime as texts
from runtime.doctor.check import Check
from runtime.settings import Settings

ANSWER_SECONDS = 5.0

_REFUSALS = (httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN)


async def model(settings: Settings, language: Language) -> Check:
    if settings.planner_name == "rules":
        remedy = texts.MODEL_NONE_REMEDY.say(language)
        return Check(name="model", status="ok", detail=texts.MODEL_NONE.say(language), remedy=remedy)
    if settings.model_base_url:
        return await _model_server(settings, language)
    if settings.model_api_key is not None:
        return Check(name="model", status="ok", detail=texts.MODEL_KEY_SET.say(language, model=settings.model))
    detail = texts.MODEL_NO_KEY.say(language, model=settings.model)
    return Check(name="model", status="warn", detail=detail, remedy=texts.MODEL_NO_KEY_REMEDY.say(language))


async def telegram(settings: Settings, language: Language) -> Check:
    if settings.telegram_token is None:
        remedy = texts.TELEGRAM_NONE_REMEDY.say(language)
        return Check(name="telegram", status="ok", detail=texts.TELEGRAM_NONE.say(language), remedy=remedy)
    address = f"{settings.telegram_base_url}{settings.telegram_token.get_secret_value()}/getMe"
    try:
        answer = await _asked(address, {})
        name = answer.json()["result"]["username"] if answer.status_code == httpx.codes.OK else ""
    except (httpx.HTTPError, httpx.InvalidURL, ValueError, KeyError, TypeError) as error:
        # The error's own text could hold the address, and with it the token.
        host = urlsplit(settings.telegram_base_url).hostname
        detail = texts.TELEGRAM_SILENT.say(language, host=host, problem=type(error).__name__)
        remedy = texts.TELEGRAM_SILENT_REMEDY.say(language)
        return Check(name="telegram", status="missing", detail=detail, remedy=remedy)
    if not name:
        remedy = texts.TELEGRAM_REFUSED_REMEDY.say(language)
        return Check(name="telegram", status="missing", detail=texts.TELEGRAM_REFUSED.say(language), remedy=remedy)
    return Check(name="telegram", status="ok", detail=texts.TELEGRAM_BOT.say(language, name=name))


async def _model_server(settings: Settings, language: Language) -> Check:
    facts = {"model": settings.model, "address": settings.model_base_url}
    key = settings.model_api_key.get_secret_value() if settings.model_api_key else ""
    try:
        answer = await _asked(settings.model_base_url, {"Authorization": f"Bearer {key}"} if key else {})
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        detail = texts.MODEL_SILENT.say(language, **facts, problem=type(error).__name__)
        remedy = texts.MODEL_SILENT_REMEDY.say(language)
        return Check(name="model", status="missing", detail=detail, remedy=remedy)
    if answer.status_code in _REFUSALS:
        remedy = texts.MODEL_REFUSES_REMEDY.say(language)
        return Check(name="model", status="missing", detail=texts.MODEL_REFUSES.say(language, **facts), remedy=remedy)
    return Check(name="model", status="ok", detail=texts.MODEL_ANSWERS.say(language, **facts))


async def _asked(address: str, headers: dict[str, str]) -> httpx.Response:
    async with httpx.AsyncClient(timeout=ANSWER_SECONDS) as client:
        return await client.get(address, headers=headers)
