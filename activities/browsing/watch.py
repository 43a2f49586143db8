"""Watches one page while it loads: its answers, and what it tries beside showing itself."""

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from playwright.async_api import BrowserContext, Dialog, Error, Page, Request, Response, Route

from activities.fetching import REFUSAL_HEADER
from policy.passage import Passage

_MOST_NOTED = 10
NO_CALLS = "for (const name of ['RTCPeerConnection', 'webkitRTCPeerConnection']) delete globalThis[name];"
"""Runs first in every document, whatever made it."""


@dataclass
class Watch:
    """Fills while the page is open. Every list is bounded: a hostile page opens a thousand dialogs."""

    passage: Passage
    """What the page may fetch."""
    status: int | None = None
    media_type: str = ""
    is_refused: bool = False
    """True if it was the egress proxy that answered."""
    url: str = ""
    """The last address that the page itself asked for."""
    dialogs: list[str] = field(default_factory=list)
    popups: list[str] = field(default_factory=list)
    blocked: list[str] = field(default_factory=list)
    _page: Page | None = None
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    async def start(self, context: BrowserContext) -> Page:
        """Open the page under watch; whatever opens after it is a pop-up."""
        await context.route("**/*", self._pass_or_block)
        # Pages that are only looked at need no calls, and a relay's address would be asked for past the route.
        await context.add_init_script(NO_CALLS)
        self._page = await context.new_page()
        self._page.on("websocket", lambda socket: _note(self.blocked, _host(socket.url)))
        context.on("page", self._close_popup)
        context.on("requestfailed", self._note_failed)
        self._page.on("dialog", self._dismiss)
        self._page.on("request", self._note_request)
        self._page.on("response", self._note_response)
        return self._page

    async def stop(self) -> None:
        """End what was begun; with a page that hangs it would not end by itself."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _pass_or_block(self, route: Route) -> None:
        with suppress(Error):  # the page may be gone by now
            if self.passage.closed(route.request.url) is None:
                await route.continue_()
            else:
                await route.abort("blockedbyclient")

    def _close_popup(self, popup: Page) -> None:
        _note(self.popups, popup.url)
        self._begin(_quietly(popup.close()))

    def _dismiss(self, dialog: Dialog) -> None:
        _note(self.dialogs, dialog.message[:200])
        self._begin(_quietly(dialog.dismiss()))

    def _note_request(self, request: Request) -> None:
        if self._is_own(request):
            self.url = request.url

    def _note_failed(self, request: Request) -> None:
        if "ERR_BLOCKED_BY_CLIENT" in (request.failure or ""):
            _note(self.blocked, _host(request.url))

    def _note_response(self, response: Response) -> None:
        if not self._is_own(response.request):
            return
        self.url, self.status = response.url, response.status
        self.media_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        self.is_refused = REFUSAL_HEADER in response.headers

    def _is_own(self, request: Request) -> bool:
        try:
            return request.is_navigation_request() and self._page is not None and request.frame == self._page.main_frame
        except Error:
            return False  # a request of a service worker, or of a frame that is gone

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


async def _quietly(work: Coroutine[Any, Any, None]) -> None:
    with suppress(Error):
        await work


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def _note(notes: list[str], what: str) -> None:
    if what and len(notes) < _MOST_NOTED and what not in notes:
        notes.append(what)
