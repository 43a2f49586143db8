"""Stands before everything that a browser fetches: what routes of a page do not show passes here as well, such as each
hop of a redirect, what is fetched ahead of a click, and what workers of no page ask for."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Any

from playwright.async_api import Browser, CDPSession, Error

from policy.passage import Passage

IsClosed = Callable[[str], bool]


class Openings:
    """What the visits that are under way in each sandbox may fetch. They share one browser, which does not say whose a
    request is; a route of its own keeps each visit to its own hosts."""

    def __init__(self) -> None:
        self._open: dict[str, list[Passage]] = {}

    @contextmanager
    def during(self, sandbox_id: str, passage: Passage) -> Iterator[IsClosed]:
        """Give the question that the gate of this sandbox asks, for as long as the visit goes on."""
        under_way = self._open.setdefault(sandbox_id, [])
        under_way.append(passage)
        try:
            yield lambda address: all(each.closed(address) is not None for each in under_way)
        finally:
            under_way.remove(passage)
            if not under_way:
                self._open.pop(sandbox_id, None)


@asynccontextmanager
async def gate(browser: Browser, is_closed: IsClosed) -> AsyncIterator[None]:
    """Judge every request of the browser. Raises: playwright Error if the browser is gone."""
    session = await browser.new_browser_cdp_session()
    tasks: set[asyncio.Task[None]] = set()

    def judge(event: dict[str, Any]) -> None:
        task = asyncio.create_task(_judge(session, event, is_closed))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    session.on("Fetch.requestPaused", judge)
    await session.send("Fetch.enable", {"patterns": [{"urlPattern": "*"}]})
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        # Never disabled: what is still under way would then pass. It ends with the connection.


async def _judge(session: CDPSession, event: dict[str, Any], is_closed: IsClosed) -> None:
    asked = {"requestId": event["requestId"]}
    with suppress(Error):  # the request may have been given up
        if is_closed(str(event["request"]["url"])):
            await session.send("Fetch.failRequest", asked | {"errorReason": "BlockedByClient"})
        else:
            await session.send("Fetch.continueRequest", asked)
