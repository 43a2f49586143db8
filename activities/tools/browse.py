"""The tool `browse`: open a page in Chromium inside the sandbox, and give what a person would see of it."""

from dataclasses import dataclass, field
from typing import Annotated

from playwright.async_api import Error
from pydantic import Field

from activities.addresses import WebAddress, web_address
from activities.arguments import parse, schema_of
from activities.browsing.chromium import ChromiumBroken, ChromiumMissing, running
from activities.browsing.driver import driver
from activities.browsing.gate import Openings
from activities.browsing.report import reported, unavailable
from activities.browsing.visit import Patience, Seen, visit
from activities.parts import ToolParts
from activities.preview import one_line, preview
from activities.tool import Tool, ToolContext
from contracts.language import Language
from contracts.provenance import ToolLabels
from contracts.texts import tools as texts
from contracts.tools import ToolResult, ToolSpec
from contracts.values import JsonObject, Value
from contracts.verdicts import VisitAction
from policy.passage import Passage, opened

_CONNECT_SECONDS = 20.0


class Arguments(Value):
    """What `browse` is asked."""

    url: Annotated[str, Field(min_length=1, description="An http or https address.")]
    screenshot: Annotated[bool, Field(description="Keep a picture of the page.")] = True


SPEC = ToolSpec(
    name="browse",
    description="Open a web page in a browser, run its scripts, and give its title, text, links and a screenshot.",
    parameters=schema_of(Arguments),
    repeatable=True,
    needs_sandbox=True,
    labels=ToolLabels(
        effects=("read", "egress"),
        output="foreign",
        confidentiality="public",
        arguments={"url": "destination", "screenshot": "choice"},
    ),
)


@dataclass(frozen=True)
class Browse:
    """Looks at pages; it fills in nothing and clicks nothing."""

    proxy: str
    patience: Patience
    spec: ToolSpec = SPEC
    openings: Openings = field(default_factory=Openings)

    def actions(self, args: JsonObject) -> tuple[VisitAction, ...]:
        return (VisitAction(url=_address(args).href),)

    def summary(self, args: JsonObject, language: Language) -> str:
        return one_line(texts.BROWSE_SUMMARY.say(language, url=_address(args).href))

    def preview(self, args: JsonObject) -> str:
        return preview({"url": _address(args).href, "screenshot": parse(Arguments, args).screenshot})

    def timeout_seconds(self, args: JsonObject) -> float:
        return 180.0

    async def run(self, args: JsonObject, context: ToolContext) -> ToolResult:
        asked, address = parse(Arguments, args), _address(args)
        try:
            seen = await self._seen(address, asked.screenshot, context)
        except ChromiumMissing:
            return unavailable(context, texts.CHROMIUM_MISSING.say(context.language))
        except (ChromiumBroken, Error) as error:
            detail = one_line(str(error))
            return unavailable(context, texts.CHROMIUM_FAILED.say(context.language, detail=detail))
        return await reported(seen, address, self.patience, context)

    async def _seen(self, address: WebAddress, screenshot: bool, context: ToolContext) -> Seen:
        try:
            return await self._once(address, screenshot, context, afresh=False)
        except Error:
            # The browser that an earlier call left may have died or hang: one new one, then it is a fault.
            return await self._once(address, screenshot, context, afresh=True)

    async def _once(self, address: WebAddress, screenshot: bool, context: ToolContext, *, afresh: bool) -> Seen:
        context.beat("starting the browser")
        endpoint = await running(context.sandbox, self.proxy, afresh=afresh)
        passage = Passage(context.browser, opened(address.href, context.egress))
        async with context.sandbox.forward(endpoint.port) as port, driver() as playwright:
            browser = await playwright.chromium.connect_over_cdp(
                endpoint.address(port), timeout=_CONNECT_SECONDS * 1000
            )
            with self.openings.during(context.sandbox.lease.sandbox_id, passage) as is_closed:
                return await visit(
                    browser,
                    address.href,
                    passage,
                    is_closed,
                    screenshot=screenshot,
                    patience=self.patience,
                    beat=context.beat,
                )


def tools(parts: ToolParts) -> list[Tool]:
    return [Browse(parts.proxy, Patience())]


def _address(args: JsonObject) -> WebAddress:
    return web_address(parse(Arguments, args).url)
