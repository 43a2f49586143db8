"""The page /replay/<task> shows the owner's browser what a task did."""

import asyncio
import logging
import re
from urllib.parse import quote

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse
from temporalio.client import Client
from temporalio.service import RPCError

from audit.replay.page import content_policy, page
from audit.storage import StorageUnusable
from contracts.texts import pages as texts
from gateway.archive import Archive
from gateway.login_page import language_of
from gateway.owner import COOKIE, Owner
from runtime.addresses import REPLAY_PATH
from runtime.codec import PayloadUnreadable

_log = logging.getLogger(__name__)

_TASK = re.compile(r"[0-9A-Za-z-]{1,64}")


class Replays:
    """Serves recordings once the gateway has reached Temporal."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self._client: Client | None = None

    def connect(self, client: Client) -> None:
        self._client = client

    def routes(self, owner: Owner) -> APIRouter:
        """For the owner alone."""
        router = APIRouter()

        @router.get(f"{REPLAY_PATH}/{{task_id}}")
        async def replay(request: Request, task_id: str) -> Response:
            if not owner.is_cookie(request.cookies.get(COOKIE, "")):
                return RedirectResponse(f"/login?next={quote(request.url.path, safe='')}", 303)
            language = language_of(request)
            if self._client is None:
                return Response(texts.NOT_READY.say(language), 503)
            if _TASK.fullmatch(task_id) is None:
                return Response(texts.NO_RECORDING.say(language), 404)
            try:
                recording = await self._archive.recording(self._client, task_id)
            except (RPCError, StorageUnusable, PayloadUnreadable) as error:
                _log.warning("the recording of task %s cannot be shown: %s", task_id, error)
                return Response(texts.NOT_READY.say(language), 503)
            if not recording.lines and not recording.goal:
                return Response(texts.NO_RECORDING.say(language), 404)
            return Response(
                await asyncio.to_thread(lambda: page(recording, language).encode("utf-8", "replace")),
                media_type="text/html; charset=utf-8",
                headers=_headers(),
            )

        return router


def _headers() -> dict[str, str]:
    return {
        "Content-Security-Policy": f"{content_policy()}; frame-ancestors 'none'",
        "X-Frame-Options": "DENY",
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Cache-Control": "no-store",
    }
