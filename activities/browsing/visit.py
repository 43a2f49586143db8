"""Visit one address in a context of its own, and see as much of it as there is to see."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass

from playwright.async_api import Browser, Error, Page
from playwright.async_api import TimeoutError as PlaywrightTimeout
from pydantic import ValidationError

from activities.browsing.gate import IsClosed, gate
from activities.browsing.look import LONGEST_HTML, LONGEST_TEXT, LOOK, MOST_LINKS, Looked
from activities.browsing.watch import Watch
from policy.passage import Passage

LOAD_SECONDS = 30.0
"""How long a page may take to build its document."""
SETTLE_SECONDS = 8.0
"""How long pictures and scripts may take after that."""
QUIET_SECONDS = 2.0
_LOOK_SECONDS = 10.0
_SCREENSHOT_SECONDS = 15.0
_CLOSE_SECONDS = 5.0


@dataclass(frozen=True)
class Seen:
    """All that one visit gave; `failure` is Chromium's own word, such as net::ERR_CERT_DATE_INVALID."""

    watch: Watch
    looked: Looked
    url: str
    screenshot: bytes | None
    timed_out: bool
    settled: bool
    failure: str


@dataclass(frozen=True)
class Patience:
    """How long a visit waits for its page."""

    load_seconds: float = LOAD_SECONDS
    settle_seconds: float = SETTLE_SECONDS


async def visit(
    browser: Browser,
    url: str,
    passage: Passage,
    is_closed: IsClosed,
    *,
    screenshot: bool,
    patience: Patience,
    beat: Callable[[str], None],
) -> Seen:
    """Raises: playwright Error if the browser itself is gone."""
    async with gate(browser, is_closed):
        return await _visited(browser, url, Watch(passage), screenshot=screenshot, patience=patience, beat=beat)


async def _visited(
    browser: Browser, url: str, watch: Watch, *, screenshot: bool, patience: Patience, beat: Callable[[str], None]
) -> Seen:
    context = await browser.new_context(
        accept_downloads=False, service_workers="block", viewport={"width": 1280, "height": 800}
    )
    try:
        page = await watch.start(context)
        beat("loading")
        failure, timed_out = await _go(page, url, patience)
        if timed_out:
            await _stop_loading(page)
        settled = not failure and not timed_out and await _settles(page, patience)
        beat("looking")
        looked = await _look(page) if watch.status is not None else None
        shows = looked is not None and not failure and not watch.is_refused
        picture = await _picture(page) if screenshot and shows else None
        timed_out = timed_out or (looked is None and not failure)
        return Seen(watch, looked or Looked(), _address(page, watch), picture, timed_out, settled, failure)
    finally:
        await watch.stop()
        # A page that spins for ever keeps its context open; it ends with the connection then.
        await _within(_CLOSE_SECONDS, context.close())


async def _go(page: Page, url: str, patience: Patience) -> tuple[str, bool]:
    try:
        await page.goto(url, wait_until="domcontentloaded", timeout=patience.load_seconds * 1000)
    except PlaywrightTimeout:
        return "", True
    except Error as error:
        return error.message.splitlines()[0], False
    return "", False


async def _stop_loading(page: Page) -> None:
    """While a page loads it may answer no question; after this it shows what it has."""

    async def stop() -> None:
        session = await page.context.new_cdp_session(page)
        await session.send("Page.stopLoading")

    await _within(_CLOSE_SECONDS, stop())


async def _within(seconds: float, work: Awaitable[None]) -> None:
    with suppress(Error, TimeoutError):
        async with asyncio.timeout(seconds):
            await work


async def _settles(page: Page, patience: Patience) -> bool:
    try:
        await page.wait_for_load_state("load", timeout=patience.settle_seconds * 1000)
    except Error:
        return False
    with suppress(Error):  # a page that polls is never quiet, and that is no fault
        await page.wait_for_load_state("networkidle", timeout=QUIET_SECONDS * 1000)
    return True


async def _look(page: Page) -> Looked | None:
    try:
        async with asyncio.timeout(_LOOK_SECONDS):
            answer = await page.evaluate(LOOK, [LONGEST_HTML, LONGEST_TEXT, MOST_LINKS])
        return Looked.model_validate_json(answer)
    except (Error, TimeoutError, ValidationError):
        return None


async def _picture(page: Page) -> bytes | None:
    try:
        return await page.screenshot(type="png", timeout=_SCREENSHOT_SECONDS * 1000, animations="disabled")
    except Error:
        return None


def _address(page: Page, watch: Watch) -> str:
    return page.url if page.url.startswith(("http://", "https://")) else watch.url
